"""Did every message of every writer arrive once, whole and in order?

  check_writers.py [--blank-ok] CHANNEL IDS_DIR COUNT WRITER...

IDS_DIR holds one file a writer with the ids it printed. --blank-ok: blank lines are
allowed (one of ours that looks while a foreign writer without the lock is in the
middle of a large write takes its text for torn, and seals it). Shares no code with src/.
"""
import json, re, sys

ALPHABET = "abcdefghijklmnopqrstuvwxyz" * 2400


def size_of(name, n):
    h = 2166136261
    for byte in f"{name} {n}".encode():
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    kind, r = h % 200, h // 200
    return r % 60001 if kind == 0 else r % 8001 if kind < 6 else r % 201


def body_of(name, n):
    size = size_of(name, n)
    return f'é"\\\n {name} {n} {size} ' + ALPHABET[n % 26 : n % 26 + size]


def main():
    blank_ok = sys.argv[1] == "--blank-ok"
    del sys.argv[1 : 1 + blank_ok]
    channel, ids_dir, count, writers = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    data = open(channel, "rb").read()
    assert data.endswith(b"\n"), "the last line has no end"
    found = {w: [] for w in writers}
    ids = set()
    for number, line in enumerate(data[:-1].split(b"\n"), 1):
        if not line and blank_ok:
            continue
        try:
            m = json.loads(line)
        except ValueError as why:
            sys.exit(f"line {number} is not JSON: {why}: {line[:200]!r}")
        assert list(m) == ["v", "id", "ts", "from", "to", "type", "ref", "body"], f"line {number}: {list(m)}"
        assert m["v"] == 1 and m["from"] == m["ref"] and m["to"] == "all" and m["type"] == "progress"
        assert m["id"] not in ids, f"line {number}: id {m['id']} twice"
        assert re.fullmatch(re.escape(m["from"]) + r"-progress-\d{19}-\d+", m["id"]), f"line {number}: id {m['id']}"
        ids.add(m["id"])
        mine = found[m["from"]]
        assert m["body"] == body_of(m["from"], len(mine)), f"line {number}: not message {len(mine)} of {m['from']}"
        mine.append(m["id"])
    for w in writers:
        assert len(found[w]) == count, f"{w}: {len(found[w])} of {count} messages"
        assert open(f"{ids_dir}/{w}").read().split() == found[w], f"{w}: printed other ids than it wrote"
    print(f"{len(ids)} messages of {len(writers)} writers, {len(data)} bytes")


if __name__ == "__main__":
    main()
