"""logfile - reads events.jsonl and its segments, as docs/formats/log.md says. Shares no code with
src/: its own CRC, its own rules, Python's own JSON.

    lines, notes = read(DIRECTORY)      lines: (number, object) of everything that counts, in order

Stricter than a reader must be, because here only cliq writes: a number that is not the next one,
a line that is neither whole nor the beginning of one, or a bad CRC on a whole line is an error.
"""
import json, os, re


def _tables():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table, [table[table[v & 255] & 255 ^ v >> 8] ^ table[v & 255] >> 8 for v in range(65536)]


_T8, _T16 = _tables()


def crc32c(data):
    crc = 0xFFFFFFFF
    even = len(data) & ~1
    for v in memoryview(data)[:even].cast("H"):  # two bytes at a time; little endian only
        crc = _T16[(crc ^ v) & 0xFFFF] ^ crc >> 16
    if even != len(data):
        crc = _T8[(crc ^ data[-1]) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


class Bad(Exception):
    pass


def _numbered(directory, form):
    found = [(re.fullmatch(form, name), name) for name in os.listdir(directory)]
    return sorted((int(m.group(1)), name) for m, name in found if m)


def kept(directory):
    """What is kept of dropped segments: the number before which, and the name; (1, None): nothing was."""
    return max(_numbered(directory, r"events-kept-([1-9]\d*)\.jsonl"), default=(1, None))


def files(directory):
    """The segments by their first number, then the current file."""
    first, _ = kept(directory)
    return [f for f in _numbered(directory, r"events-([1-9]\d*)\.jsonl") if f[0] >= first] + [(None, "events.jsonl")]


def _whole(line, where):
    """The object of a line, or None when it is the beginning of one: what a killed writer left."""
    try:
        v = json.loads(line)
    except ValueError:
        if not line.startswith(b'{"') or re.search(rb',"crc":"[0-9a-f]{8}"}$', line):
            raise Bad(f"{where}: not JSON, and not what a torn write leaves: {line[:120]!r}") from None
        return None
    m = re.search(rb',"crc":"([0-9a-f]{8})"}$', line)
    if not m:
        raise Bad(f"{where}: a line without a crc, and nobody but cliq wrote: {line[:120]!r}")
    if int(m.group(1), 16) != crc32c(line[: m.start()]):
        raise Bad(f"{where}: the crc does not match")
    return v


def _read_kept(directory):
    """Its lines, and the number that comes next."""
    first, name = kept(directory)
    lines = []
    for i, line in enumerate(open(os.path.join(directory, name), "rb").read().split(b"\n")[:-1] if name else [], 1):
        v = _whole(line, f"{name}:{i}")
        if v is None or v["seq"] <= (lines[-1][0] if lines else 0) or "op" not in v or "of" in v or "nth" in v:
            raise Bad(f"{name}:{i}: {line[:120]!r}")
        lines.append((v["seq"], v))
    if name and (not lines or lines[-1][1]["op"] != "kept" or lines[-1][0] != first - 1):
        raise Bad(f"{name}: does not end with its line")
    return lines, first


def read(directory):
    notes = {"fragments": 0, "segments": 0, "cut_groups": 0, "lines": 0}
    lines, expected = _read_kept(directory)
    for first, name in files(directory):
        data = open(os.path.join(directory, name), "rb").read()
        if first is not None:
            notes["segments"] += 1
            if first != expected:
                raise Bad(f"{name}: begins with {first}, but {expected} comes next")
        group, wants, is_over = [], 0, False
        *ended, tail = data.split(b"\n")
        notes["fragments"] += tail != b""
        for i, line in enumerate(ended, 1):
            where = f"{name}:{i}"
            if not line:
                continue
            v = _whole(line, where)
            if v is None:
                notes["fragments"] += 1
                continue
            if is_over:
                raise Bad(f"{where}: a line behind the rotate line")
            if v.get("nth", 1) == 1:
                if group:  # its writer died in it: its numbers are used again
                    notes["cut_groups"] += 1
                    expected -= len(group)
                group, wants = [], v.get("of", 1)
            elif not group or v["nth"] != len(group) + 1:
                raise Bad(f"{where}: nth {v['nth']} behind {len(group)} lines of a group")
            if v["seq"] != expected:
                raise Bad(f"{where}: has the number {v['seq']}, but {expected} comes next")
            expected += 1
            group.append((v["seq"], v))
            if len(group) == wants:
                lines += group
                is_over = v.get("op") == "rotate"
                group = []
        if group:
            notes["cut_groups"] += 1
            expected -= len(group)
        if first is not None and not is_over:
            raise Bad(f"{name}: an old segment without a rotate line at its end")
    notes["lines"] = len(lines)
    return lines, notes


def signals(lines):
    """Signals alone: (number, id, object)."""
    return [(seq, v["id"], v) for seq, v in lines if "op" not in v]
