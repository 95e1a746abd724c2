"""truncate.py - truncates a channel at every byte of its last three lines, then posts.

  truncate.py CLIQ READS_EVERY

After each post, exactly the lines that are still whole and the new message can be read. This
script checks the file itself; every READS_EVERY-th time it also checks the output of
`cliq channel read`, forward and from the end.
"""
import json, os, subprocess, sys

cliq, every = sys.argv[1], int(sys.argv[2])
channel = ".war-rooms/r/channel.jsonl"
POST = [cliq, *"channel post --room r --from a --to b --type done --ref x --body".split()]


def run(args):
    p = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True)
    assert p.returncode == 0, (p.returncode, p.stderr)
    return p.stdout.decode()


def parse(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


for body in ["first", "second: \u00e9\u20ac\U0001F600 \"quoted\" \\ \n\t\x01", "third {\"v\":1}", "fourth \u00e9", "fifth"]:
    run(POST + [body])
whole = open(channel, "rb").read()
lines = whole.splitlines(keepends=True)
assert len(lines) == 5
start = len(b"".join(lines[:2]))
cases = 0
for size in range(start, len(whole) + 1):
    with open(channel, "wb") as f:
        f.write(whole[:size])
    new = run(POST + [f"after {size}"]).strip()
    # A line that lost only its '\n' is whole again when the next writer ends it.
    kept = [m for m in map(parse, whole[:size].decode("utf-8", "replace").split("\n")) if m]
    data = open(channel, "rb").read()
    assert data.startswith(whole[:size]) and data.endswith(b"\n"), size
    tail = data[size:]
    is_torn = size > 0 and not whole[:size].endswith(b"\n")
    assert tail.count(b"\n") == 1 + is_torn, (size, tail)
    found = [m for m in map(parse, data.decode("utf-8", "replace").split("\n")) if m]
    assert found[:-1] == kept and found[-1]["id"] == new and found[-1]["body"] == f"after {size}", (size, found)
    if cases % every == 0 or size > len(whole) - 3:
        READ = [cliq, "channel", "read", "--room", "r"]
        assert json.loads(run(READ)) == found, size
        assert json.loads(run(READ + ["--last", "2"])) == found[-2:], size
    cases += 1
print(cases)
