"""agent - passes a message to its handler and writes the last status line.

    ok ("ack")  ->  the handler: progress, notify, handoffs  ->  complete (exit 0) | error (exit 1)

A handler that raises has failed. One that returns without ending the phase has completed it; a gate's must
give a verdict: by finalize_gate_phase, or by returning {"verdict": ..., "comment": ...}. Handlers may be
async functions.
"""
from __future__ import annotations

import os
import sys

from .awaited import awaited
from .context import begin_session, build_phase_context, finalize_gate_phase
from .message import parse_message
from .state_dir import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Mapping, NoReturn, Optional

    from .context import Session

    Message = Dict[str, Any]
    Handler = Callable[[Message], Any]

KEYS = ("phase:standard", "phase:gate", "notify", "test")
MESSAGE_BYTES = 64 << 20
_PASSED = {"passed": True, "message": "ready"}
_MISTAKES = (LookupError, TypeError, AttributeError, NameError, AssertionError, ImportError, ArithmeticError)


def _say(name: str, text: str) -> None:
    """On standard error; control characters are shown, not acted on."""
    shown = "".join(c if c in "\n\t" or not (c < " " or "\x7f" <= c <= "\x9f") else "\\x%02x" % ord(c) for c in text)
    try:
        os.write(2, ("%s: %s\n" % (name, shown)).encode(errors="replace"))
    except OSError:
        pass  # standard error is closed


def _reason(problem: BaseException) -> str:
    """Why it failed, for people: str(KeyError("x")) is only 'x'."""
    if isinstance(problem, SystemExit):
        if isinstance(problem.code, str):
            return problem.code
        return "the handler ended the process with exit code %d: it must return or raise" % (problem.code or 0)
    if isinstance(problem, _MISTAKES) or not str(problem):
        return "%s: %s" % (type(problem).__name__, problem) if str(problem) else type(problem).__name__
    return str(problem)


def _trace(problem: BaseException) -> str:
    """For the log: where in the agent's own code it happened."""
    import traceback
    others = (os.path.dirname(__file__), os.path.dirname(os.__file__))
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if not f.filename.startswith(others)]
    return "\n".join([_reason(problem)] + ["    %s:%s: %s" % (f.filename, f.lineno, f.line) for f in frames])


class CliqAgent:
    def __init__(self, name: str, handlers: Optional[Mapping[str, Handler]] = None) -> None:
        if not isinstance(name, str):
            raise ValueError("CliqAgent(name=..., handlers=...): name must be a text")
        check_name("name of an agent", name)
        self.name, self.handlers = name, dict(handlers or {})
        self._session: Optional[Session] = None  # of the message that is handled
        for key, handler in self.handlers.items():
            if key not in KEYS:
                raise ValueError("agent %s: no handler can be registered for \"%s\": the keys are %s"
                                 % (name, key, ", ".join(KEYS)))
            if not callable(handler):
                raise ValueError("agent %s: the handler for %s is not a function" % (name, key))

    def _handle(self, session: Session) -> Any:
        read = session.read
        key = read.type if read.phase is None else "phase:" + read.phase_type
        handler = self.handlers.get(key)
        if handler is None and key != "test":
            raise ValueError("agent %s has no handler for %s" % (self.name, key))
        result = awaited(handler(session.msg)) if handler else _PASSED
        if session.lines.is_done:
            return result
        if key == "phase:gate":
            if not isinstance(result, dict) or not isinstance(result.get("verdict"), dict):
                raise ValueError("gate %s ended without a verdict" % read.phase)
            ctx = session.context or build_phase_context(session.msg, self.name)
            finalize_gate_phase(ctx, result)
        elif session.context:
            session.context.end(result)
        else:
            session.lines.complete(_PASSED if key == "test" and result is None else result)
        return result

    def _dispatch(self, msg: Message, note: Optional[Callable[[str], None]]) -> Any:
        session = self._session = begin_session(msg, note)
        try:
            session.lines.ok()
            return self._handle(session)
        except BaseException as problem:
            if isinstance(problem, SystemExit) and not problem.code and session.lines.is_done:
                return None  # it was finalized
            try:
                session.lines.error(_reason(problem))
            except Exception:
                pass  # the line could not be written: the orchestrator sees a crash
            raise

    def dispatch(self, msg: Message) -> Any:
        """For tests: handles a message and returns what the handler returned. Raises the handler's error, after
        the error line was written, and for a wrong message, before anything is written."""
        return self._dispatch(msg, None)

    def _say(self, text: str) -> None:
        """In this agent's log, without its secrets."""
        _say(self.name, self._session.lines.mask.text(text) if self._session else text)

    def run(self) -> NoReturn:
        """The agent's main program: reads the message from standard input, handles it, exits with 0 or 1."""
        code = 0
        try:
            text = sys.stdin.buffer.read(MESSAGE_BYTES + 1) if sys.stdin else b""
            if len(text) > MESSAGE_BYTES:
                raise ValueError("the message is larger than %d bytes" % MESSAGE_BYTES)
            self._dispatch(parse_message(text.decode(errors="replace")), self._say)
        except BaseException as problem:
            self._say(_trace(problem) if self._session else _reason(problem))
            code = 1
        sys.exit(code)
