"""hub_inject.py - makes one system call on the hub's files fail in `cliq emit`, `cliq claim` or
`cliq hub compact`: in run n the n-th call, until a run makes fewer calls.

  hub_inject.py CLIQ emit|claim fresh|there|behind|lost SYSCALL WHAT...
  hub_inject.py CLIQ compact segments|again SYSCALL WHAT...

WHAT: an errno, or kill (SIGKILL before the call). fresh: no store yet. there: a store with a current
index. behind: the log has lines that the index lacks. lost: a store without an index. segments: a
store with segments that can be dropped. again: the same, and compacted before.
After the first six calls, the steps between tested calls grow; HUB_SYSCALLS=all tests every call.

After any failure: the exit code is one of cliq's; an id is printed only if its signal is in the log,
exactly once; older lines are unchanged; the next command works; index and log agree. Reads the log with
test/checker/logfile.py, which shares no code with src/. Prints the number of calls that failed.
"""
import json, os, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../checker"))
import logfile

cliq, command, state, syscall, *whats = sys.argv[1:]
HOME, PATTERN, TRACE = os.path.abspath("hub"), os.path.abspath("pattern"), os.path.abspath("trace")
STORE = f"{HOME}/signals"
FILES = [HOME, STORE] + [f"{STORE}/{n}" for n in ("events.jsonl", "index.db", "index.db-wal", "index.db-shm", "index.db-journal")]
if command == "compact":
    FILES += [f"{STORE}/{n}" for n in ("events-kept.tmp", "index.db.new", "index.db.new-journal")]
TASKS = 3


def run(*args, home=HOME, prefix=()):
    env = {**os.environ, "CLIQ_HOME": home}
    return subprocess.run([*prefix, cliq, *args], stdin=subprocess.DEVNULL, capture_output=True, env=env)


def rotate():
    """Ends the segment, as a rotation by size does."""
    line = b'{"op":"rotate","seq":%d' % (logfile.read(f"{PATTERN}/signals")[0][-1][0] + 1)
    with open(f"{PATTERN}/signals/events.jsonl", "ab") as f:
        f.write(line + b',"crc":"%08x"}\n' % logfile.crc32c(line))


def make_segments():
    def cliq(*args):
        p = run(*args, home=PATTERN)
        assert p.returncode == 0, p
        return p.stdout.decode()

    shutil.rmtree(PATTERN, ignore_errors=True)
    cliq("identity", "add", "bob")
    for who in ("bob", "eve"):
        cliq("key", "create", "--identity", who)
    for part in range(4 if state == "segments" else 6):
        cliq("role", "add", f"role-{part}")
        cliq("signal", "schedule", f"late:{part}", "--at", "+900d", "--repeat-key", "r")
        if part == 1:
            cliq("key", "revoke", [k["id"] for k in json.loads(cliq("key", "list", "--json")) if k["identity"] == "eve"][0])
        for i in range(3):
            cliq("ack", cliq("emit", "task", f"{part}.{i}").strip())
        rotate()
        if state == "again" and part == 2:
            cliq("emit", "task", "open")
            cliq("hub", "compact", "--older-than", "0s")
            cliq("ack", cliq("claim").strip())
    cliq("emit", "task", "open")


def make_pattern():
    if state == "fresh":
        return
    if command == "compact":
        return make_segments()
    for i in range(TASKS):
        assert run("emit", "task", f"old {i}", home=PATTERN).returncode == 0
    if state == "behind":
        index = {n: open(f"{PATTERN}/signals/{n}", "rb").read() for n in os.listdir(f"{PATTERN}/signals") if n.startswith("index")}
        assert run("emit", "task", "unseen", home=PATTERN).returncode == 0
        for n, data in index.items():
            open(f"{PATTERN}/signals/{n}", "wb").write(data)
    if state == "lost":
        for n in os.listdir(f"{PATTERN}/signals"):
            if n.startswith("index"):
                os.unlink(f"{PATTERN}/signals/{n}")


def prepare():
    shutil.rmtree(HOME, ignore_errors=True)
    if state != "fresh":
        shutil.copytree(PATTERN, HOME)


def log():
    return logfile.read(STORE)[0] if os.path.exists(f"{STORE}/events.jsonl") else []


def agrees():
    """Checks that the index has what the log has."""
    check = run("hub", "check")
    assert check.stdout == b"clean\n", f"hub check: {check.stdout} {check.stderr}"
    listed = run("signal", "list", "--all", "--json")
    assert listed.returncode == 0, listed.stderr
    got = sorted(s["sequence"] for s in json.loads(listed.stdout))
    assert got == [seq for seq, _, _ in logfile.signals(log())], f"listed: {got}"


def judge_code(p, is_kill):
    if is_kill:
        assert p.returncode in (0, -9, 137), f"exit code {p.returncode}"
    elif p.returncode == 127:
        assert b"shared libraries" in p.stderr  # the dynamic loader failed
    else:
        assert p.returncode in (0, 7, 74), f"exit code {p.returncode}"
        assert (p.returncode == 0) == (p.stdout != b""), "an id without success, or success without an id"
        assert p.returncode == 0 or p.stderr.startswith(b"cliq: "), "no sentence"


def judge_emit(p, before):
    after = log()
    assert after[: len(before)] == before, "what was there has changed"
    new = [v for _, v in after[len(before) :]]
    assert len(new) <= 1 and all(v.get("content") == "new" for v in new), new
    if p.stdout:
        assert ["signal:" + v["id"] for v in new] == p.stdout.decode().split(), "printed, but not there"
    following = run("emit", "task", "next")
    assert following.returncode == 0, f"the next command: {following.stderr}"
    ids = ["signal:" + i for _, i, _ in logfile.signals(log())]
    assert ids[-1:] == following.stdout.decode().split(), "the next one is not in its place"


def judge_claim(p, before):
    after = log()
    assert after[: len(before)] == before, "what was there has changed"
    claims = [v["signal"] for _, v in after[len(before) :] if v.get("op") == "claim"]
    given_back = [v["signal"] for _, v in after[len(before) :] if v.get("op") == "release"]
    assert len(claims) <= 1 and given_back in ([], claims), (claims, given_back)
    if p.stdout:
        assert p.stdout.decode().split() == ["signal:" + i for i in claims] and not given_back, "told of a claim that is not there"
    free = [i for _, i, _ in logfile.signals(after) if i not in claims or given_back]
    got = []
    while (c := run("claim", "--as", "other")).returncode == 0:
        got += c.stdout.decode().split()
    assert c.returncode == 4, c.stderr
    assert got == ["signal:" + i for i in free], f"others got {got}, free were {free}"


def who_is_who():
    return [json.loads(run(*words, "--json").stdout) for words in (("identity", "list"), ("role", "list"), ("key", "list"), ("signal", "delayed"))]


def judge_compact(p, before):
    """Either no segment or all that can go were dropped; identities, roles, keys, schedules are unchanged."""
    was = who_is_who_was
    after, first = log(), logfile.kept(STORE)[0]
    is_whole = first == kept_was
    assert after == before if is_whole else [x for x in after if x[0] >= first] == [x for x in before if x[0] >= first], "what stays has changed"
    assert who_is_who() == was, "who is who has changed"
    assert not is_whole or p.returncode != 0, "told of what was not done"
    assert run("hub", "compact", "--older-than", "0s").returncode == 0
    assert logfile.kept(STORE)[0] > kept_was
    names = [n for n in os.listdir(STORE) if n.startswith("events-")]
    assert len(names) == 2 and len([n for n in names if "kept" in n]) == 1, names
    assert who_is_who() == was, "who is who has changed, later"
    assert [s["content"] for s in json.loads(run("signal", "list", "--all", "--json", "--delivery-state", "pending").stdout)] == ["open"]


def numbers():
    n, step = 1, 1
    while True:
        yield n
        if n >= 6 and os.environ.get("HUB_SYSCALLS") != "all":
            step = n // 2
        n += step


make_pattern()
args = {"emit": ["emit", "task", "new"], "claim": ["claim", "--as", "me"], "compact": ["hub", "compact", "--older-than", "0s"]}[command]
judge = {"emit": judge_emit, "claim": judge_claim, "compact": judge_compact}[command]
paths = [x for f in FILES for x in ("-P", f)]
cases = 0
for what in whats:
    action = "signal=KILL" if what == "kill" else f"error={what}"
    for when in numbers():
        prepare()
        before = log()
        if command == "compact":
            who_is_who_was, kept_was = who_is_who(), logfile.kept(STORE)[0]
        prefix = ["strace", "-f", "-qq", "-o", TRACE, *paths, "-e", f"trace={syscall}", "-e", f"inject={syscall}:{action}:when={when}"]
        p = run(*args, prefix=prefix)
        text = open(TRACE, errors="replace").read()
        is_touched = "(INJECTED)" in text or "+++ killed by SIGKILL" in text
        try:
            judge_code(p, what == "kill")
            judge(p, before)
            agrees()
        except (AssertionError, logfile.Bad) as why:
            sys.exit(f"{command} {syscall} {action} when={when} ({state}): {why}\n{text[-2000:]}\nexit code {p.returncode}, stdout {p.stdout}, stderr {p.stderr}")
        if not is_touched:
            assert p.returncode == 0, p
            break
        cases += 1
print(cases)
