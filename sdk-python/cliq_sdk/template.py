"""template - $(inputs.x), $(handoff.<phase>.<path>), $(phase) ... in the text of a role.

The orchestrator has replaced them in payload.role. They are replaced here when the role is read from
roles/<phase>.md, as in a test of an agent. cliq-templates(7) describes them.
"""
from __future__ import annotations

import re
import time

from .json_text import to_json
from .status_line import iso_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Optional

# A use of a variable; the second group is what else begins like one.
_USE = re.compile(r"""\$\(((?:inputs|handoff|dirs)\.[^\x00-\x20\x7f()$`'"\\;|&<>{}]+|team_name|phase|date|timestamp|run_id)\)"""
                  r"""|\$\(((?:inputs|handoff|dirs)\.[^)\n]*)\)?""")
MISSING = object()


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)


def _unresolved(name: str, why: str) -> ValueError:
    return ValueError("cannot resolve $(%s): %s" % (name[:200], why))


def find_value(value: Any, path: str) -> Any:
    """The value at a dotted path: "files[0].name"; MISSING: there is none. File names are keys, too
    ("report.json.size"), so at each object the longest key is tried first."""
    if not path:
        return value
    if isinstance(value, list):
        part = re.match(r"\[(\d+)\](?:\.(?=.)|(?=\[)|$)", path)
        if not part or int(part[1]) >= len(value):
            return MISSING
        return find_value(value[int(part[1])], path[part.end():])
    if not isinstance(value, dict):
        return MISSING
    keys = [key for key in value if key and path.startswith(key)]
    for key in sorted(keys, key=len, reverse=True):
        rest = path[len(key):]
        if rest and not re.match(r"\.(?=.)|\[", rest):
            continue
        found = find_value(value[key], rest[1:] if rest.startswith(".") else rest)
        if found is not MISSING:
            return found
    return MISSING


def _find_in_envelope(envelope: Mapping[str, Any], path: str) -> Any:
    found = envelope.get(path, MISSING) if path in ("text", "data") else MISSING
    data = envelope.get("data")
    if found is MISSING:
        found = find_value(data, path)
    if found is MISSING and re.match(r"data[.\[]", path):
        found = find_value(data, path[5:] if path[4] == "." else path[4:])
    return found


class Scope:
    """Where the values come from. plain has team_name, phase, run_id, dirs.project ..."""

    def __init__(self, inputs: Optional[Mapping[str, Any]], handoff: Callable[[str], Optional[Mapping[str, Any]]],
                 plain: dict[str, str]) -> None:
        now = iso_time(time.time_ns())
        self._inputs, self._handoff = inputs, handoff
        self._plain = {"date": now[:10], "timestamp": now, **plain}

    def _handoff_value(self, name: str) -> str:
        phase, _, path = name[len("handoff."):].partition(".")
        if not phase or not path:
            raise _unresolved(name, "write $(handoff.PHASE.PATH)")
        envelope = self._handoff(phase)
        if envelope is None:
            raise _unresolved(name, "phase %s left no handoff here" % phase)
        value = _find_in_envelope(envelope, path)
        if value is MISSING:
            raise _unresolved(name, "the handoff of phase %s has no such value" % phase)
        return _as_text(value)

    def value(self, name: str) -> str:
        if name.startswith("inputs."):
            key = name[len("inputs."):]
            if self._inputs is None or key not in self._inputs:
                raise _unresolved(name, "there is no such input; give it with cliq req --input")
            return _as_text(self._inputs[key])
        if name.startswith("handoff."):
            return self._handoff_value(name)
        if name not in self._plain:
            raise _unresolved(name, "known ones are dirs.project, dirs.work, dirs.state and dirs.files")
        return self._plain[name]


def expand(text: str, scope: Scope) -> str:
    def replace(use: re.Match[str]) -> str:
        if use[2] is not None:
            raise ValueError("$(%s is not a template variable: write $(inputs.NAME), $(handoff.PHASE.PATH) or "
                             "$(dirs.NAME), or \"$( \" for the shell's own" % use[2][:200])
        return scope.value(use[1])
    return _USE.sub(replace, text)
