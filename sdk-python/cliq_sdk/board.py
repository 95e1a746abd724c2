"""board - the task board, task_board.md: "# Task Board", then one "- [ ] <phase>" line for each phase, with
its notes as indented "  - note" lines below it.

A board is text in memory, written back only when it is dirty. Phases that run in parallel share the file:
write_board takes the lock, reads the file again and applies this board's edits to its new text.
"""
from __future__ import annotations

import re

from .json_text import check_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .state_dir import StateDir


class TaskBoard:
    def __init__(self, text: str = "") -> None:
        self._text = text
        self._edits: list[tuple[str, ...]] = []  # (method, *arguments) since the file was read

    @property
    def content(self) -> str:
        return self._text

    @property
    def dirty(self) -> bool:
        return bool(self._edits)

    def _find(self, phase: str) -> int:
        """Where the line of the phase's entry begins; -1: there is none. Other text may follow its name."""
        at = 0
        for line in self._text.split("\n"):
            entry = re.match(r"[-*] \[[ xX]\] +", line)
            if phase and entry and line.startswith(phase, entry.end()):
                after = entry.end() + len(phase)
                if line[after:after + 1] in ("", "\r", "\t", " ", ":", ",", ".", ";"):
                    return at
            at += len(line) + 1
        return -1

    def _mark(self, phase: str, is_complete: bool) -> None:
        at = self._find(phase)
        if at < 0 or (self._text[at + 3] != " ") == is_complete:
            return
        self._text = self._text[:at + 3] + ("x" if is_complete else " ") + self._text[at + 4:]
        self._edits.append(("mark_complete" if is_complete else "mark_incomplete", phase))

    def mark_complete(self, phase: str) -> None:
        self._mark(phase, True)

    def mark_incomplete(self, phase: str) -> None:
        self._mark(phase, False)

    def add_note(self, phase: str, note: str) -> None:
        """After the notes that are there. Further lines of a note are indented, so that none looks like an
        entry."""
        check_text("the note of the task board", note)
        at, text = self._find(phase), self._text
        if at < 0 or not note.strip(" \t\r\n"):
            return

        def next_line(begin: int) -> int:
            return text.find("\n", begin) + 1 or len(text)
        at = next_line(at)
        while text[at:at + 1] in (" ", "\t"):
            at = next_line(at)
        is_open = at == len(text) and not text.endswith("\n")  # the last line has no end
        lines = note.rstrip("\n\r ").replace("\r", "").replace("\n", "\n    ")
        self._text = "%s%s  - %s\n%s" % (text[:at], "\n" if is_open else "", lines, text[at:])
        self._edits.append(("add_note", phase, note))

    def replace(self, content: str) -> None:
        check_text("the content of the task board", content)
        self._text = content
        self._edits = [("replace", content)]

    def rebased(self, text: str) -> TaskBoard:
        """A board with the file's present text and the edits of this one."""
        board = TaskBoard(text)
        for method, *words in self._edits:
            getattr(board, method)(*words)
        return board

    def saved(self, text: str) -> None:
        self._text, self._edits = text, []


def write_board(state: StateDir, board: TaskBoard) -> None:
    """Writes a dirty board into the state directory."""
    def write() -> None:
        now = state.read("task_board.md")
        text = board.content if now is None else board.rebased(now).content
        state.replace("task_board.md", text)
        board.saved(text)
    if board.dirty:
        state.locked(write)
