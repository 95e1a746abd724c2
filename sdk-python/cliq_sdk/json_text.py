"""json_text - JSON text, byte for byte as cliq writes it."""
from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional


def well_formed(text: str) -> str:
    """A text that UTF-8 can hold: half of a surrogate pair becomes U+FFFD."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_json(value: Any, indent: Optional[int] = None) -> str:
    """The value as JSON; indent 2 for files that people read. DEL is escaped: a terminal may act on it."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators, indent=indent)
    return well_formed(text).replace("\x7f", "\\u007f")


def check_text(what: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError("%s: it must be a text, not %s" % (what, type(value).__name__))


def parse_file(path: str, text: str) -> Any:
    """Parses a file's text; the error begins with file:line:column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise ValueError("%s:%d:%d: not JSON: %s" % (path, problem.lineno, problem.colno, problem.msg)) from None


def cut_text(text: str, limit: int) -> str:
    """The beginning of a text, at most so many bytes of UTF-8, cut between characters."""
    return text if len(text) * 4 <= limit else well_formed(text).encode()[:limit].decode(errors="ignore")
