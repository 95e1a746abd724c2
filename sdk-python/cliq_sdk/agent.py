"""agent - passes a message to its handler and writes the last status line.

    ok ("ack")  ->  the handler: progress, notify, handoffs  ->  complete (exit 0) | error (exit 1)

A handler that raises has failed. One that returns without ending the phase has completed it; a gate's must
give a verdict: by finalize_gate_phase, or by returning {"verdict": ..., "comment": ...}. Handlers may be
async functions.
"""
from __future__ import annotations

import os
import sys

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


def _say(name: str, text: str) -> None:
    """On standard error; control characters are shown, not acted on."""
    shown = "".join(c if c in "\n\t" or not (c < " " or "\x7f" <= c <= "\x9f") else "\\x%02x" % ord(c) for c in text)
    try:
        os.write(2, ("%s: %s\n" % (name, shown)).encode(errors="replace"))
    except OSError:
        pass  # standard error is closed


def _reason(problem: BaseException) -> str:
    return str(problem) or repr(problem)


def _awaited(result: Any) -> Any:
    if not hasattr(result, "__await__"):
        return result
    import asyncio

    async def wait() -> Any:
        return await result
    return asyncio.run(wait())


class CliqAgent:
    def __init__(self, name: str, handlers: Optional[Mapping[str, Handler]] = None) -> None:
        check_name("name of an agent", name)
        self.name, self.handlers = name, dict(handlers or {})
        for key in self.handlers:
            if key not in KEYS:
                raise ValueError("agent %s: no handler can be registered for \"%s\": the keys are %s"
                                 % (name, key, ", ".join(KEYS)))

    def _handle(self, session: Session) -> Any:
        read = session.read
        key = read.type if read.phase is None else "phase:" + read.phase_type
        handler = self.handlers.get(key)
        if handler is None and key != "test":
            raise ValueError("agent %s has no handler for %s" % (self.name, key))
        result = _awaited(handler(session.msg)) if handler else _PASSED
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
        session = begin_session(msg, note)
        try:
            session.lines.ok()
            return self._handle(session)
        except BaseException as problem:
            try:
                session.lines.error(_reason(problem))
            except Exception:
                pass  # the line could not be written: the orchestrator sees a crash
            raise

    def dispatch(self, msg: Message) -> Any:
        """For tests: handles a message and returns what the handler returned. Raises the handler's error, after
        the error line was written, and for a wrong message, before anything is written."""
        return self._dispatch(msg, None)

    def run(self) -> NoReturn:
        """The agent's main program: reads the message from standard input, handles it, exits with 0 or 1."""
        code = 0
        try:
            text = sys.stdin.buffer.read(MESSAGE_BYTES + 1)
            if len(text) > MESSAGE_BYTES:
                raise ValueError("the message is larger than %d bytes" % MESSAGE_BYTES)
            self._dispatch(parse_message(text.decode(errors="replace")), lambda note: _say(self.name, note))
        except BaseException as problem:
            _say(self.name, _reason(problem))
            code = 1
        sys.exit(code)
