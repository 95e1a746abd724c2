"""handoff - the envelope that one phase leaves for another: channels/<from>--<to>/handoff.json.

    {"version": 1, "phase_type": "standard", "phase": "analyzer", "agent": "cursor", "data": {...}, "text": "..."}
"""
from __future__ import annotations

from .json_text import parse_file, to_json
from .state_dir import replace_in_channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Optional

    from .state_dir import StateDir


def write_handoff(channel: str, envelope: Mapping[str, Any]) -> None:
    """Writes handoff.json into the channel, an absolute path. The members are in the order above."""
    members = ("phase_type", "phase", "agent", "data", "text")
    given = {key: envelope[key] for key in members if envelope.get(key) is not None}
    replace_in_channel(channel, "handoff.json", to_json({"version": 1, **given}, 2) + "\n")


def _fault_of(v: Any) -> Optional[str]:
    if not isinstance(v, dict):
        return "an envelope is a JSON object"
    members: dict[str, Any] = v
    version = members.get("version", 1)
    if version != 1 or isinstance(version, bool):
        return "version must be 1"
    for key in ("phase_type", "phase", "agent", "text"):
        if not isinstance(members.get(key, ""), (str, type(None))):
            return key + " must be text"
    return None


def read_handoff(state: StateDir, channel: str) -> Optional[dict[str, Any]]:
    """The envelope of a channel ("architect--developer") to this phase; None: it holds no handoff."""
    text = state.read("channels/%s/handoff.json" % channel)
    if text is None:
        return None
    path = "%s/channels/%s/handoff.json" % (state.dir, channel)
    v = parse_file(path, text)
    fault = _fault_of(v)
    if fault:
        raise ValueError("%s:1:1: not a handoff: %s" % (path, fault))
    defaults = {"phase_type": "standard", "phase": channel.partition("--")[0], "agent": ""}
    envelope: dict[str, Any] = {"version": 1}
    for key, default in defaults.items():
        envelope[key] = default if v.get(key) is None else v[key]
    for key in ("data", "text"):
        if v.get(key) is not None:
            envelope[key] = v[key]
    return envelope


def render_handoff(envelope: Mapping[str, Any]) -> str:
    """For a prompt: first data as JSON, then text."""
    text = envelope.get("text") or ""
    shown = "```json\n%s\n```\n" % to_json(envelope["data"], 2) if "data" in envelope else ""
    if not text:
        return shown
    return "%s%s%s%s" % (shown, "\n" if shown else "", text, "" if text.endswith("\n") else "\n")
