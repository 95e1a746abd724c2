"""status_line - the lines that an agent appends to <signal_dir>/<phase>.jsonl.

    {"ts":"2026-05-29T06:04:14.222Z","version":1,"type":"phase","status":"ok"}
    {"ts":"...","version":1,"type":"phase","status":"progress","message":"half way"}
    {"ts":"...","version":1,"type":"phase","status":"complete","result":{...}}

One ok, then any number of progress and notify, then one complete or error; the first of those counts. For a
notification or a test the file is _notify-<agent>-<id>.jsonl or _test-<agent>-<id>.jsonl.
"""
from __future__ import annotations

import os
import re
import time

from .json_text import cut_text, to_json
from .mask import Mask
from .state_dir import append_line, make_dirs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

    from .message import Read

LINE_BYTES = 1 << 20
TEXT_BYTES = 64 * 1024  # of a progress note or an error, which people read


def iso_time(ns: int) -> str:
    """2026-05-29T06:04:14.222Z"""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 1_000_000_000)) + ".%03dZ" % (ns // 1_000_000 % 1000)


def _name_without_phase(read: Read) -> str:
    own = read.payload.get("id")
    text = own if isinstance(own, str) and own else read.instance_id or "0"
    return "_%s-%s-%s" % (read.type, read.agent,
                          re.sub("[^A-Za-z0-9._-]", "_", text.encode()[:64].decode("latin-1")))


class StatusFile:
    def __init__(self, read: Read) -> None:
        make_dirs(read.signal_dir)
        self.path = "%s/%s.jsonl" % (read.signal_dir, read.phase or _name_without_phase(read))
        self.mask = Mask(read.settings, read.agent, os.environ)
        self.is_done = False
        self._type, self._attempt_id = read.type, read.attempt_id

    def _append(self, status: str, *, message: Optional[str] = None, error: Optional[str] = None,
                result: Any = None) -> None:
        line: dict[str, Any] = {"ts": iso_time(time.time_ns()), "version": 1, "type": self._type, "status": status}
        if self._attempt_id is not None:
            line["attempt_id"] = self._attempt_id
        if message is not None:
            line["message"] = cut_text(self.mask.text(message), TEXT_BYTES)
        if error is not None:
            line["error"] = cut_text(self.mask.text(error), TEXT_BYTES)
        if result is not None:
            line["result"] = self.mask.json(result)
        text = to_json(line)
        if len(text.encode()) >= LINE_BYTES:
            raise ValueError("the %s line is larger than a line of a log may be (%d bytes): put large results into a "
                             "file" % (status, LINE_BYTES))
        append_line(self.path, text)

    def ok(self) -> None:
        self._append("ok")

    def progress(self, message: str) -> None:
        self._append("progress", message=message)

    def notify(self, result: dict[str, Any]) -> None:
        self._append("notify", result=result)

    # The end: only the first of these counts, later ones do nothing.
    def complete(self, result: Any = None) -> None:
        if not self.is_done:
            self._append("complete", result=result)
        self.is_done = True

    def error(self, error: str) -> None:
        if not self.is_done:
            self._append("error", error=error)
        self.is_done = True
