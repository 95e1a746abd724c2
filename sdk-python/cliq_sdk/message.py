"""message - the AgentMessage: the JSON object that an agent reads on standard input.

read_message checks it; it says which member is wrong, before anything is written. What it returns is the
message with its defaults:
    state_dir   payload.state_dir, else the parent of the nearest `signals` directory at or above signal_dir,
                else project_dir/.cliq
    work_dir    project_dir when it is absent
"""
from __future__ import annotations

import json

from .state_dir import check_name, is_phase_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence

    Message = Dict[str, Any]


def _text_of(members: Message, prefix: str, key: str, is_path: bool = False) -> Optional[str]:
    value = members.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("the message's %s%s must be text" % (prefix, key))
    if "\0" in value:
        raise ValueError("the message's %s%s holds a NUL byte" % (prefix, key))
    if is_path and not value.startswith("/"):
        raise ValueError("the message's %s%s must be an absolute path, not \"%s\"" % (prefix, key, value[:200]))
    return value


def _object_of(msg: Message, key: str) -> Dict[str, Any]:
    value = msg.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("the message's %s must be an object" % key)
    return value


def _list_of(msg: Message, key: str) -> List[Any]:
    value = msg.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError("the message's %s must be a list" % key)
    return value


class Read:
    """A message that was checked; an absent text is None."""

    type: str
    agent: str
    signal_dir: str

    def __init__(self, msg: Any) -> None:
        if not isinstance(msg, dict):
            raise ValueError("the message must be a JSON object")
        members: Message = msg
        texts = {key: _text_of(members, "", key) for key in ("type", "agent", "instance_id", "team_name", "req_key")}
        paths = {key: _text_of(members, "", key, True) for key in ("project_dir", "work_dir", "signal_dir")}
        self._check_head(members, texts["type"], texts["agent"], paths["signal_dir"])
        self.instance_id, self.team_name, self.req_key = texts["instance_id"], texts["team_name"], texts["req_key"]
        self.project_dir, self.work_dir = paths["project_dir"], paths["work_dir"] or paths["project_dir"]
        _list_of(members, "input_artifacts")
        self.settings, self.payload = _object_of(members, "settings"), _object_of(members, "payload")
        self.handoff_dirs = self._read_handoff_dirs(members)
        self.state_dir = self._find_state_dir()
        self.phase: Optional[str] = None
        self.phase_type = "standard"
        self.attempt_id: Optional[str] = None
        if self.type == "phase":
            self._read_phase()

    def _check_head(self, msg: Message, kind: Optional[str], agent: Optional[str], signal_dir: Optional[str]) -> None:
        if "version" not in msg:
            raise ValueError("the message has no version; this cliq supports version 1")
        if msg["version"] != 1 or isinstance(msg["version"], bool):
            raise ValueError("the message's version is not 1, the only one that this cliq supports")
        if kind is None:
            raise ValueError("the message has no type: phase, notify or test")
        if kind not in ("phase", "notify", "test"):
            raise ValueError("the message's type \"%s\" is not known: it must be phase, notify or test" % kind[:200])
        if agent is None:
            raise ValueError("the message has no agent")
        if signal_dir is None:
            raise ValueError("the message has no signal_dir, the directory of the agent's status lines")
        check_name("agent name in the message", agent)
        self.type, self.agent, self.signal_dir = kind, agent, signal_dir

    def _read_handoff_dirs(self, msg: Message) -> List[str]:
        dirs: List[str] = []
        for i, path in enumerate(_list_of(msg, "handoff_dirs")):
            if not isinstance(path, str) or "\0" in path or not path.startswith("/"):
                raise ValueError("the message's handoff_dirs must be absolute paths; number %d is not" % (i + 1))
            dirs.append(path.rstrip("/") or "/")
        return dirs

    def _find_state_dir(self) -> Optional[str]:
        given = _text_of(self.payload, "payload.", "state_dir", True)
        if given:
            return given
        parts = self.signal_dir.split("/")
        while parts and parts[-1] != "signals":
            parts.pop()
        above = "/".join(parts[:-1]).rstrip("/")
        return above or (self.project_dir and self.project_dir + "/.cliq")

    def _read_phase(self) -> None:
        phase, phase_type, self.attempt_id = (
            _text_of(self.payload, "payload.", key) for key in ("phase", "phase_type", "attempt_id"))
        if phase is None:
            raise ValueError("the message has no payload.phase, the phase to run")
        if not is_phase_name(phase):
            raise ValueError("the message's payload.phase \"%s\" is not a name of a phase: use a-z 0-9 -, begin with a "
                             "letter, no --" % phase[:200])
        self.phase, self.phase_type = phase, phase_type if phase_type is not None else "standard"
        if self.phase_type not in ("standard", "gate", "team"):
            raise ValueError("the message's payload.phase_type \"%s\" is not known: it must be standard, gate or team"
                             % self.phase_type[:200])
        if not self.state_dir:
            raise ValueError("the message does not say where the pipeline keeps its files: set payload.state_dir or "
                             "project_dir")


def parse_message(text: str) -> Any:
    """The message in the text that an agent read on standard input."""
    if not text.strip(" \t\r\n"):
        raise ValueError("there is no message: an agent reads its AgentMessage from standard input")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ValueError("the message is not JSON: %s" % problem) from None


def make_message(*, agent: str, project_dir: str, type: str = "phase", phase: Optional[str] = None,
                 phase_type: str = "standard", targets: Sequence[str] = (), payload: Optional[Message] = None,
                 **given: Any) -> Message:
    """An AgentMessage for agent.dispatch, in tests. phase, phase_type and targets (names of phases) become
    members of the payload and handoff_dirs; other members of the message are keywords, too. It is checked as
    an agent checks it."""
    state_dir = project_dir + "/.cliq"
    own: Message = {"phase_type": phase_type, "phase": phase} if type == "phase" else {}
    msg: Message = {
        "version": 1, "type": type, "agent": agent, "instance_id": "test-1", "team_name": "", "req_key": "",
        "project_dir": project_dir, "work_dir": project_dir, "signal_dir": state_dir + "/signals",
        "handoff_dirs": ["%s/channels/%s--%s" % (state_dir, phase, to) for to in targets],
        "input_artifacts": [], "settings": {}, **given, "payload": {**own, **(payload or {})},
    }
    Read(msg)
    return msg
