"""inject.py - makes one system call of `cliq channel post` fail: with every ERRNO, in run n the
n-th call, until a run makes fewer calls.

  inject.py CLIQ SYSCALL fresh|there|torn [ERRNO...]   calls fail
  inject.py CLIQ SYSCALL fresh|there|torn kill          SIGKILL before the call
  inject.py CLIQ SYSCALL short [ERRNO...]               the write comes out short (a file size
                                                        limit), then SYSCALL fails

fresh: no room yet. there: a room with messages. torn: the last line is torn.

After any failure: the exit code is one of cliq's, an id is printed only if its record is in the
file, older records are unchanged, no other file is left, and the next post works. Shares no code
with src/.
"""
import json, os, resource, shutil, subprocess, sys

cliq, syscall, state, *errnos = sys.argv[1:]
kills = errnos == ["kill"]
errnos = errnos or ["ENOSPC", "EIO", "EINTR", "EMFILE", "ENOMEM", "EACCES"]
room, trace = ".war-rooms/r", os.path.abspath("trace")
channel = f"{room}/channel.jsonl"
OLD = b"".join(b'{"v":1,"id":"old-%d","body":"old"}\n' % i for i in range(3))
if state == "short":
    OLD += b'{"v":1,"id":"old-big","body":"%s"}\n' % (b"x" * 20000)
TORN = b'{"v":1,"id":"torn","bo'
before = {"fresh": None, "there": OLD, "torn": OLD + TORN, "short": OLD}[state]
LIMIT = len(OLD) + 40  # bytes the file may have in the state "short"


def prepare():
    shutil.rmtree(".war-rooms", ignore_errors=True)
    if before is not None:
        os.makedirs(room, 0o700)
        with open(channel, "wb") as f:
            f.write(before)


def post(body, prefix=(), **how):
    args = [*prefix, cliq, *f"channel post --room r --from a --to b --type done --ref x --body {body}".split()]
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, **how)


def records():
    """The complete records of the channel; every other line must be the beginning of one."""
    data = open(channel, "rb").read() if os.path.exists(channel) else b""
    assert before is None or data.startswith(before), f"what was there has changed: {data!r}"
    found = []
    for line in data.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            assert line == b"" or line.startswith(b"{"), f"a strange line: {line!r}"
    return [m for m in found if not m["id"].startswith("old-")]


def check(p):
    code = p.returncode
    printed = p.stdout.decode().split()
    here = records()
    ids = [m["id"] for m in here]
    if kills:
        assert code in (-9, 137, 0), f"exit code {code}"
    elif code == 127:
        assert b"error while loading shared libraries" in p.stderr  # not a matter of ours
    else:
        assert code in (0, 2, 4, 7, 74), f"exit code {code}"
        assert (code == 0) == bool(printed), "an id without success, or success without an id"
        assert (code == 0) == (p.stderr == b""), f"exit code {code} said: {p.stderr}"
    for i in printed:
        assert ids.count(i) == 1, f"{i} was printed, but stands there {ids.count(i)} times"
    assert len(here) <= 1 and all(m["body"] == "injected" for m in here), here
    if before is not None and os.path.exists(room):
        assert os.listdir(room) == ["channel.jsonl"], os.listdir(room)
    nxt = post("next")
    assert nxt.returncode == 0, f"the next post: exit code {nxt.returncode}: {nxt.stderr}"
    after = records()
    assert [m["id"] for m in after] == ids + nxt.stdout.decode().split(), "the next post is not in its place"


cases = 0
for errno in errnos:
    for when in range(1, 200):
        prepare()
        what = "signal=KILL" if kills else f"error={errno}"
        prefix = ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={syscall}", "-e", f"inject={syscall}:{what}:when={when}"]
        how = {}
        if state == "short":
            how["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
        p = post("injected", prefix, **how)
        text = open(trace).read()
        is_touched = "(INJECTED)" in text or "+++ killed by SIGKILL" in text
        try:
            check(p)
        except AssertionError as why:
            sys.exit(f"{syscall} {what} when={when} ({state}): {why}\n{text}\nexit code {p.returncode}, stdout {p.stdout}, stderr {p.stderr}")
        if not is_touched:
            assert p.returncode == (74 if state == "short" else 0), p
            break
        cases += 1
    else:
        sys.exit(f"{syscall}: no end after 200 calls")
print(cases)
