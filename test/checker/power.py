"""power - what a power cut leaves of a log whose writer was killed: it has what was synced, and of
the rest what the disk happened to have; the file ahead is of another boot; the hub's index is gone.

Reads the file ahead by docs/formats/log.md alone. Only while nobody writes.
"""
import os, struct

import logfile

HEAD, BLOCK, BOOT = 88, 4096, 48


def chain(data):
    """[(where, length)] of the records, and where in the log they begin."""
    found, at, first, end = [], 0, None, None
    while data[at : at + 8] == b"cliqahd1":
        crc, length, generation, offset = struct.unpack_from("<IIQQ", data, at + 8)
        if crc != logfile.crc32c(data[at + 12 : at + HEAD + length]) or (first and (generation != first[0] or offset != end)):
            break
        first = first or (generation, offset)
        end = offset + length
        found.append((at, length))
        at = blocks(at, length)
    return found, first and first[1]


def blocks(at, length):
    """Where the record behind this one begins."""
    return at + -(-(HEAD + length) // BLOCK) * BLOCK


def cut(store, rnd):
    """How many bytes of the log were lost that the file ahead has."""
    path, ahead = os.path.join(store, "events.jsonl"), os.path.join(store, "events.ahead")
    if not os.path.exists(ahead):
        return 0  # nobody writes, or the first line is still to come
    data = bytearray(open(ahead, "rb").read())
    records, first = chain(bytes(data))
    if not records:
        return 0
    end = first + sum(length for _, length in records)
    size = os.path.getsize(path)
    if data[BOOT : BOOT + 36] == b"0" * 36:
        return 0  # once more, before anybody has put back what it took
    assert size >= end, f"the log ends at {size}, and {end} was acknowledged"
    if blocks(records[-1][0], records[-1][1]) + blocks(0, size - end) > len(data):
        return 0  # the file ahead had no room for the rest: it was synced in the log itself
    for at, length in records:
        data[at + BOOT : at + BOOT + 36] = b"0" * 36
        struct.pack_into("<I", data, at + 8, logfile.crc32c(bytes(data[at + 12 : at + HEAD + length])))
    with open(ahead, "r+b") as f:
        f.write(data)
    with open(path, "r+b") as f:
        if rnd.random() < 0.6:
            kept = rnd.randint(first, end)
            f.truncate(kept)
            lost = end - kept
        else:  # the inode was written, some of the blocks were not
            a = max(first, rnd.randint(first, end) // BLOCK * BLOCK)
            f.truncate(end)
            f.seek(a)
            lost = min(end, a + rnd.randint(1, 3) * BLOCK) - a
            f.write(b"\0" * lost)
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        if os.path.exists(os.path.join(store, name)):
            os.unlink(os.path.join(store, name))
    return lost
