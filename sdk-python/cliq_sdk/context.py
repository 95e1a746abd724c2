"""context - everything that an agent can read and do in a phase.

    ctx = build_phase_context(msg, "my-analyst")
    for target in ctx.targets:
        ctx.send(target, "Done.")
    finalize_standard_phase(ctx, msg)            # or finalize_gate_phase(ctx, result, msg)

Handoffs, files and signals are on disk when their call returns, and remain if the agent fails later; only the
task board is written at the end. The first call that ends the phase counts: later ones do nothing. A wrong
argument raises ValueError, and nothing is written.
"""
from __future__ import annotations

import os

from .board import TaskBoard, write_board
from .handoff import read_handoff, render_handoff, write_handoff
from .json_text import check_text, parse_file, to_json
from .message import Read
from .state_dir import StateDir, check_name, is_name, is_phase_name, reader_of
from .status_line import StatusFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Optional, Union

    Message = Dict[str, Any]

DOC_BYTES = 8 << 20
_COMMON_CONFIG = ("action", "sources", "target_entries", "commands", "model", "review")
_RESERVED_SIGNALS = ("command_results", "routed")


class Session:
    """One message: its status lines, what prints progress notes, the context that was made of it last."""

    def __init__(self, msg: Message, note: Optional[Callable[[str], None]] = None) -> None:
        self.msg, self.read, self.note = msg, Read(msg), note
        self.lines = StatusFile(self.read)
        self.context: Optional[PhaseContext] = None


_current: Optional[Session] = None  # an agent handles one message at a time


def begin_session(msg: Message, note: Optional[Callable[[str], None]] = None) -> Session:
    global _current
    _current = Session(msg, note)
    return _current


class InputText(str):
    """The handoffs to a phase as text for a prompt: the text of all, each below a heading, and a map by
    channel: input_text["architect--developer"]. Without a handoff it is "", which is false."""

    channels: Dict[str, str]

    def __new__(cls, channels: Dict[str, str]) -> InputText:
        whole = "\n".join("## %s\n\n%s" % item for item in channels.items())
        text = super().__new__(cls, whole)
        text.channels = channels
        return text

    def __getitem__(self, key: Any) -> str:
        return self.channels[key] if isinstance(key, str) else super().__getitem__(key)

    def get(self, channel: str, default: str = "") -> str:
        return self.channels.get(channel, default)


# ---- reading ----

def _read_inputs(state: StateDir, phase: str) -> Dict[str, Dict[str, Any]]:
    envelopes: Dict[str, Dict[str, Any]] = {}
    for channel in state.names("channels"):
        if "--" not in channel or reader_of(channel) != phase:
            continue
        envelope = read_handoff(state, channel)
        if envelope is not None:
            envelopes[channel] = envelope
    return envelopes


def _read_docs(state: StateDir) -> Dict[str, str]:
    """Documents are UTF-8 text of at most 8 MiB; others are left out: read their file."""
    docs: Dict[str, str] = {}
    for name in state.names("design"):
        size = state.file_size("design/" + name)
        content = state.read_bytes("design/" + name) if size is not None and size <= DOC_BYTES else None
        try:
            if content is not None and b"\0" not in content:
                docs[name] = content.decode()
        except UnicodeDecodeError:
            pass
    return docs


def _read_workflow_inputs(state: StateDir) -> Optional[Dict[str, Any]]:
    text = state.read("inputs.json")
    if text is None:
        return None
    inputs = parse_file(state.dir + "/inputs.json", text)
    if not isinstance(inputs, dict):
        raise ValueError("%s/inputs.json:1:1: the inputs must be a JSON object" % state.dir)
    return inputs


def _phase_config_of(payload: Dict[str, Any]) -> Dict[str, Any]:
    """The phase's own fields, and those of the protocol that agents of a kind share."""
    own = payload.get("phase_config")
    if not isinstance(own, dict):
        return payload
    config: Dict[str, Any] = dict(own)
    for key in _COMMON_CONFIG:
        if key in payload:
            config.setdefault(key, payload[key])
    return config


# ---- the context ----

class PhaseContext:
    def __init__(self, session: Session, agent: str) -> None:
        read = session.read
        assert read.phase is not None and read.state_dir is not None
        state = StateDir(read.state_dir)
        self._session, self._state = session, state
        self._channels = {reader_of(os.path.basename(path)): path for path in read.handoff_dirs}
        self._sent: set[str] = set()
        self.agent, self.phase, self.phase_type = agent, read.phase, read.phase_type
        self.is_support: bool = read.payload.get("is_support") is True
        self.project_dir: str = read.project_dir or os.path.dirname(state.dir)
        self.work_dir: str = read.work_dir or self.project_dir
        self.state_dir: str = state.dir
        self.settings: Dict[str, Any] = read.settings
        self.metadata = {"instance_id": read.instance_id or "", "team_name": read.team_name or "",
                         "req_key": read.req_key or ""}
        self.dispatch: Dict[str, Any] = {**read.payload, "phase_config": _phase_config_of(read.payload)}
        self.targets: List[str] = list(self._channels)
        self.req_spec: str = state.read("req_spec.md") or ""
        self.input_envelopes = _read_inputs(state, read.phase)
        self.input_text = InputText({c: render_handoff(envelope) for c, envelope in self.input_envelopes.items()})
        self.inputs = self.input_text
        self.design_docs = _read_docs(state)
        self.workflow_inputs = _read_workflow_inputs(state)
        self.role = self._read_role(read)
        self.task_board = TaskBoard(state.read("task_board.md") or "")
        session.context = self

    def _read_role(self, read: Read) -> str:
        given = read.payload.get("role")
        if isinstance(given, str):
            return given
        file = "roles/%s.md" % self.phase
        text = self._state.read(file) or ""
        if "$(" not in text:
            return text
        from .template import Scope, expand  # few agents need it
        by_phase = {channel.partition("--")[0]: envelope for channel, envelope in self.input_envelopes.items()}
        plain = {"team_name": self.metadata["team_name"], "phase": self.phase, "run_id": self.metadata["instance_id"],
                 "dirs.project": self.project_dir, "dirs.work": self.work_dir, "dirs.state": self.state_dir,
                 "dirs.files": self.state_dir + "/files"}
        try:
            return expand(text, Scope(self.workflow_inputs, by_phase.get, plain))
        except ValueError as problem:
            raise ValueError("%s: %s" % (file, problem)) from None

    def _hand_over(self, channel: str, data: Any, text: Optional[str]) -> None:
        mask = self._session.lines.mask
        write_handoff(channel, {"phase_type": self.phase_type, "phase": self.phase, "agent": self.agent,
                                "data": mask.json(data), "text": None if text is None else mask.text(text)})

    def send(self, target: str, payload: Union[str, Dict[str, Any]]) -> None:
        """Writes the handoff for a target: a text, or {"data": ..., "text": ...} of which one may be absent."""
        if not isinstance(payload, (str, dict)):
            raise ValueError("send to %s: it takes a text or {\"data\": ..., \"text\": ...}, not %s"
                             % (target, type(payload).__name__))
        data, text = (None, payload) if isinstance(payload, str) else (payload.get("data"), payload.get("text"))
        if data is not None and not isinstance(data, dict):
            raise ValueError("the handoff's data: it must be a JSON object")
        if text is not None and not isinstance(text, str):
            raise ValueError("the handoff's text: it must be a text")
        if data is None and text is None:
            raise ValueError("send to %s: neither data nor text was given" % target)
        if target not in self._channels:
            known = "its targets are " + ", ".join(self.targets) if self.targets else "it has no targets"
            raise ValueError("phase %s cannot send to \"%s\": %s" % (self.phase, str(target)[:100], known))
        self._hand_over(self._channels[target], data, text)
        self._sent.add(target)

    def write_file(self, name: str, content: Union[str, bytes]) -> None:
        """Writes files/<phase>/<name>; the name may have directories, but no ".."."""
        if not isinstance(content, (bytes, bytearray, memoryview)):
            check_text("the content of the file \"%s\"" % str(name)[:100], content)
        self._state.replace("files/%s/%s" % (self.phase, name), content)

    def progress(self, message: str) -> None:
        """Reports progress to people who watch the run."""
        message = str(message)
        if self._session.note:
            self._session.note(message)
        self._session.lines.progress(message)

    def signal(self, name: str, payload: Any = None) -> None:
        """Writes signals/<phase>_<name>.json."""
        check_name("name of a signal", name)
        if name in _RESERVED_SIGNALS:
            raise ValueError("the name of a signal %s is reserved: choose another name" % name)
        shown = self._session.lines.mask.json({} if payload is None else payload)
        self._state.replace("signals/%s_%s.json" % (self.phase, name), to_json(shown, 2) + "\n")

    def register_notification(self, event: str, channel_ref: str, payload: Optional[Mapping[str, Any]] = None) -> None:
        """Asks the orchestrator to send a notification. channel_ref: "slack:oncall", "email"."""
        check_text("the receiver of a notification", channel_ref)
        agent, colon, channel = channel_ref.partition(":")
        if payload is not None and not isinstance(payload, dict):
            raise ValueError("the notification's payload: it must be a JSON object")
        if not is_name(agent) or (colon and not channel):
            raise ValueError("bad receiver of a notification \"%s\": write agent or agent:channel" % channel_ref[:200])
        if not event:
            raise ValueError("the notification has no event")
        self._session.lines.notify({"agent": agent, "channel": channel if colon else None, "event": event,
                                    "payload": payload or {}})

    # ---- the end, for the functions below ----

    @property
    def is_done(self) -> bool:
        return self._session.lines.is_done

    def end(self, result: Any = None) -> None:
        """Writes the board, then the complete line."""
        if not self.is_done:
            write_board(self._state, self.task_board)
            self._session.lines.complete(result)


class GateContext(PhaseContext):
    def __init__(self, session: Session, agent: str) -> None:
        super().__init__(session, agent)
        payload = session.read.payload

        def listed(key: str) -> List[Any]:
            value = payload.get(key)
            return value if isinstance(value, list) else []

        def count(key: str, default: int) -> int:
            value = payload.get(key)
            return value if isinstance(value, int) and not isinstance(value, bool) else default
        self.check_results: List[Dict[str, Any]] = listed("check_results")
        self.route_targets: List[str] = listed("route_targets")
        self.iteration, self.max_iterations = count("iteration", 1), count("max_iterations", 3)
        for i, name in enumerate(listed("route_targets")):
            if not isinstance(name, str) or not is_phase_name(name):
                raise ValueError("the message's payload.route_targets must be names of phases; number %d is not"
                                 % (i + 1))

    def send_verdict(self, verdict: Mapping[str, Any], data: Dict[str, Any], text: str) -> None:
        """ROUTE: to its target. PASS: to the targets without a handoff that are no route targets."""
        if verdict["outcome"] == "ROUTE":
            self._hand_over("%s/channels/%s--%s" % (self.state_dir, self.phase, verdict["target"]), data, text)
        if verdict["outcome"] != "PASS":
            return
        for target, channel in self._channels.items():
            if target not in self._sent and target not in self.route_targets:
                self._hand_over(channel, data, text)


def build_phase_context(msg: Message, name: Optional[str] = None) -> PhaseContext:
    """A GateContext when the phase is a gate."""
    session = _current if _current is not None and _current.msg is msg else begin_session(msg)
    if session.read.type != "phase":
        raise ValueError("build_phase_context: a %s message has no phase" % session.read.type)
    kind = GateContext if session.read.phase_type == "gate" else PhaseContext
    return kind(session, name or session.read.agent)


# ---- the end of a phase ----

def finalize_standard_phase(ctx: PhaseContext, msg: Optional[Message] = None) -> None:
    """Ends a standard phase: writes the board, then the complete line."""
    if isinstance(ctx, GateContext):
        raise ValueError("phase %s is a gate: it ends with a verdict" % ctx.phase)
    ctx.end()


def _check_verdict(ctx: GateContext, result: Mapping[str, Any]) -> Dict[str, Any]:
    given = result.get("verdict")
    verdict: Mapping[str, Any] = given if isinstance(given, dict) else {}
    outcome, target = verdict.get("outcome"), verdict.get("target")
    if outcome not in ("PASS", "ROUTE", "ESCALATE"):
        raise ValueError("bad outcome \"%s\" of gate %s: it must be PASS, ROUTE or ESCALATE"
                         % (str(outcome or "")[:100], ctx.phase))
    if not isinstance(result.get("comment"), str):
        raise ValueError("the verdict of gate %s has no comment" % ctx.phase)
    if outcome != "ROUTE":
        return {"outcome": outcome, "reason": result["comment"]}
    if target not in ctx.route_targets:
        known = "its route targets are " + ", ".join(ctx.route_targets) if ctx.route_targets else "it has no route targets"
        raise ValueError("gate %s cannot route to \"%s\": %s" % (ctx.phase, str(target or "")[:100], known))
    return {"outcome": outcome, "target": target, "reason": result["comment"]}


def finalize_gate_phase(ctx: PhaseContext, result: Mapping[str, Any], msg: Optional[Message] = None) -> None:
    """Ends a gate: writes the verdict's handoff, the board, the complete line. result is {"verdict": {"outcome":
    "PASS", "ROUTE" or "ESCALATE", "target": ...}, "comment": ..., "reviewer"?, "decided_at"?}."""
    if not isinstance(ctx, GateContext):
        raise ValueError("phase %s is not a gate: it gives no verdict" % ctx.phase)
    verdict = _check_verdict(ctx, result)
    if ctx.is_done:
        return
    decided = {key: result[key] for key in ("reviewer", "decided_at") if result.get(key) is not None}
    checks = [{key: check[key] for key in ("name", "pass") if key in check} for check in ctx.check_results]
    data = {"verdict": verdict, "checks": checks, "iteration": ctx.iteration, "max_iterations": ctx.max_iterations,
            **decided}
    text = verdict["outcome"] + (" to " + verdict["target"] if "target" in verdict else "")
    ctx.send_verdict(verdict, data, text + (": " + verdict["reason"] if verdict["reason"] else ""))
    ctx.end({"verdict": verdict, **decided})
