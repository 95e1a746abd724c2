"""append.py - the Python writer of bench/append.c: append.py FILE MILLISECONDS FORM

FORM open-once: a careful script. It opens the file once, makes the text before it
takes the lock, and flushes the line before it unlocks.

FORM open-each: as the channel's page documents: it opens the file for each message, and flushes
the line before it unlocks.

Writes 0 to standard output when ready, starts at the end of standard input, and then
writes the number of lines (both numbers as 8 bytes).
"""

import fcntl
import json
import os
import struct
import sys
import time

name, ms, form = sys.argv[1], int(sys.argv[2]), sys.argv[3]
message = {
    "v": 1,
    "id": "engineer-done-1775215174499753000-85510",
    "ts": "2026-04-03T11:19:34Z",
    "from": "engineer",
    "to": "qa",
    "type": "done",
    "ref": "EPIC-001",
    "body": "",
}
message["body"] = "x" * (255 - len(json.dumps(message)))  # 256 bytes with the '\n'


def open_once(end):
    n = 0
    with open(name, "a") as f:
        while n % 16 or time.monotonic_ns() < end:
            line = json.dumps(message) + "\n"
            fcntl.flock(f.fileno(), fcntl.LOCK_EX)
            f.write(line)
            f.flush()
            fcntl.flock(f.fileno(), fcntl.LOCK_UN)
            n += 1
    return n


def open_each(end):
    n = 0
    while n % 16 or time.monotonic_ns() < end:
        with open(name, "a") as f:
            fcntl.flock(f.fileno(), fcntl.LOCK_EX)
            f.write(json.dumps(message) + "\n")
            f.flush()
            fcntl.flock(f.fileno(), fcntl.LOCK_UN)
        n += 1
    return n


write = {"open-once": open_once, "open-each": open_each}[form]
os.write(1, struct.pack("=Q", 0))
os.read(0, 1)
os.write(1, struct.pack("=Q", write(time.monotonic_ns() + ms * 1000000)))
