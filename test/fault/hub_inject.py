"""Makes the kernel fail one system call on the hub's own files, of one `cliq emit` or `cliq claim`:
the first, the second ..., until a run is not touched any more.

  hub_inject.py CLIQ emit|claim fresh|there|behind|lost SYSCALL WHAT...

WHAT: an errno, or kill (SIGKILL before the call is made). fresh: no store yet. there: a store whose
index is up to date. behind: one whose log others wrote to. lost: one without its index.
After the first six calls ever fewer are tried; with HUB_SYSCALLS=all every one.

Whatever fails, in the log (append) or in the index (apply): the exit code is one of ours, an id is
printed only for what is in the log, once; what was there stays; the next command works; index and log
agree. Reads the log by test/checker/logfile.py, which shares no code with src/. Prints how many calls
were made to fail.
"""
import json, os, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../checker"))
import logfile

cliq, command, state, syscall, *whats = sys.argv[1:]
HOME, PATTERN, TRACE = os.path.abspath("hub"), os.path.abspath("pattern"), os.path.abspath("trace")
STORE = f"{HOME}/signals"
FILES = [HOME, STORE] + [f"{STORE}/{n}" for n in ("events.jsonl", "index.db", "index.db-wal", "index.db-shm", "index.db-journal")]
TASKS = 3


def run(*args, home=HOME, prefix=()):
    env = {**os.environ, "CLIQ_HOME": home}
    return subprocess.run([*prefix, cliq, *args], stdin=subprocess.DEVNULL, capture_output=True, env=env)


def make_pattern():
    if state == "fresh":
        return
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
    """Every reader sees what is in the log."""
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
        assert b"shared libraries" in p.stderr  # not a matter of ours
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


def numbers():
    n, step = 1, 1
    while True:
        yield n
        if n >= 6 and os.environ.get("HUB_SYSCALLS") != "all":
            step = n // 2
        n += step


make_pattern()
args = ["emit", "task", "new"] if command == "emit" else ["claim", "--as", "me"]
paths = [x for f in FILES for x in ("-P", f)]
cases = 0
for what in whats:
    action = "signal=KILL" if what == "kill" else f"error={what}"
    for when in numbers():
        prepare()
        before = log()
        prefix = ["strace", "-f", "-qq", "-o", TRACE, *paths, "-e", f"trace={syscall}", "-e", f"inject={syscall}:{action}:when={when}"]
        p = run(*args, prefix=prefix)
        text = open(TRACE, errors="replace").read()
        is_touched = "(INJECTED)" in text or "+++ killed by SIGKILL" in text
        try:
            judge_code(p, what == "kill")
            (judge_emit if command == "emit" else judge_claim)(p, before)
            agrees()
        except (AssertionError, logfile.Bad) as why:
            sys.exit(f"{command} {syscall} {action} when={when} ({state}): {why}\n{text[-2000:]}\nexit code {p.returncode}, stdout {p.stdout}, stderr {p.stderr}")
        if not is_touched:
            assert p.returncode == 0, p
            break
        cases += 1
print(cases)
