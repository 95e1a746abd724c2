"""mask - the agent's secrets become *** in what it says and hands over.

Secrets are the values of secret keys in its settings, and of environment variables with such names. Values
under 6 bytes are not hidden, because ordinary text would be. The form that a value has inside a JSON string
is hidden, too. src/base/mask.h and src/team/settings.c of cliq decide the same.
"""
from __future__ import annotations

import re

from .json_text import to_json, well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

MIN_BYTES = 6
WORDS = ("key", "token", "secret", "password", "passwd", "passphrase", "credential", "bearer", "webhookurl", "cookie",
         "authorization")


def _names_secret(part: str) -> bool:
    plain = re.sub("[^A-Za-z0-9]", "", part)[:63].lower()
    return any(word in plain for word in WORDS)


def _is_secret(path: str) -> bool:
    """path: agents.<name>.<key> ... The agent's name itself makes no secret."""
    if re.fullmatch(r"agents\.webhook\.channels\.[^.]*\.url", path):
        return True
    return any(i != 1 and _names_secret(part) for i, part in enumerate(path.split(".")))


class Mask:
    def __init__(self, settings: Mapping[str, Any], agent: str, environment: Mapping[str, str]) -> None:
        self._values: set[str] = set()
        self._add_settings(settings, "agents." + agent)
        for name, value in environment.items():
            is_count = "tokens" in name.lower() and re.fullmatch("[0-9]*", value)
            if not is_count and _names_secret(name):
                self._add(value)

    def _add_settings(self, value: Any, path: str) -> None:
        if isinstance(value, list):
            for element in value:
                self._add_settings(element, path)
        elif isinstance(value, dict):
            for key, member in value.items():
                self._add_settings(member, "%s.%s" % (path, key))
        elif isinstance(value, str):
            if _is_secret(path):
                self._add(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if "tokens" not in path and _is_secret(path):
                self._add(to_json(value))

    def _add(self, value: str) -> None:
        value = well_formed(value)
        if len(value.encode()) < MIN_BYTES:
            return
        self._values.add(value)
        self._values.add(to_json(value)[1:-1])

    def text(self, text: str) -> str:
        """Hides every character of every occurrence, also where they overlap; neighbours become one ***."""
        hidden: list[tuple[int, int]] = []
        for value in self._values:
            at = text.find(value)
            while at >= 0:
                hidden.append((at, at + len(value)))
                at = text.find(value, at + 1)
        shown, end = "", -1
        for begin, after in sorted(hidden):
            if begin > end:
                shown += text[max(end, 0):begin] + "***"
            end = max(end, after)
        return shown + text[max(end, 0):]

    def json(self, value: Any) -> Any:
        """The JSON value without secrets in texts, keys and numbers."""
        if not self._values:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            text = to_json(value)
            return value if self.text(text) == text else self.text(text)
        if isinstance(value, (list, tuple)):
            return [self.json(element) for element in value]
        if not isinstance(value, dict):
            return value
        shown: dict[str, Any] = {}
        for before, member in value.items():
            key, i = self.text(str(before)), 2
            while key != before and key in shown:
                key, i = "***%d" % i, i + 1
            shown[key] = self.json(member)
        return shown
