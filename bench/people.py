"""people.py - what people wait for, and what waits for people; medians, in turns.

    people.py CLIQ [PART...]        prints rows for bench/run

The parts: gates doctor install; without one, all. A gate that waits for people should cost next to
nothing, however many there are: 100 gates of one run in the foreground, and 100 runs in the
background with a gate each, are beside 100 processes `sleep`, the least that can wait. `cliq doctor`
is beside the programs that it has to ask, one after the other. `cliq team install` is beside `tar`
with the same package.

Memory is the proportional set size (Pss) of all processes that have our CLIQ_HOME in their
environment, so nothing that a run leaves behind is missed; CPU time is that of the scheduler, in ns.
"""
import glob, json, os, shutil, signal, statistics, subprocess, sys, time

cliq, parts = sys.argv[1], sys.argv[2:] or ["gates", "doctor", "install"]
home = os.path.abspath("home")
env = dict(os.environ, HOME=home, CLIQ_HOME=f"{home}/cliq", CLIQ_IDENTITY="ann")
env = {k: v for k, v in env.items() if k not in ("CLIQ_URL", "CLIQ_KEY")}
os.makedirs(env["CLIQ_HOME"], mode=0o700)
GATES = 100
SIGNALS = 1_000_000
SECONDS = int(os.environ.get("WAIT_S", 5))


def row(work, a, b, ratio, reach, is_ok):
    print(f"row\t{work}\t{a}\t{b}\t{ratio}\t{reach}\t{'ok' if is_ok else 'MISS'}", flush=True)


def note(text):
    print(f"note\t{text}", flush=True)


def call(*words, cwd=None, codes=(0,)):
    p = subprocess.run([cliq, *words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert p.returncode in codes, (words, p.returncode, p.stderr)
    return p.stdout


def until(is_true, what):
    end = time.monotonic() + 120
    while not is_true():
        assert time.monotonic() < end, f"after two minutes: {what}"
        time.sleep(0.02)


def team(path, text):
    os.makedirs(path)
    with open(f"{path}/team.yml", "w") as f:
        f.write(f'name: "@local/bench"\ndescription: bench\nversion: 1.0.0\nphases:\n{text}')


# ---- gates ----


def ours():
    """Our processes: those with this CLIQ_HOME."""
    mark, found = f"CLIQ_HOME={env['CLIQ_HOME']}\0".encode(), []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                if mark in f.read() + b"\0":
                    found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def pss_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))


def cpu_ns(pid):
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path) as f:
            total += int(f.read().split()[0])
    return total


def cost(pids):
    """Memory in MB, and the share of a CPU in percent over SECONDS."""
    pss = sum(map(pss_kb, pids)) / 1024
    before = sum(map(cpu_ns, pids))
    time.sleep(SECONDS)
    return pss, (sum(map(cpu_ns, pids)) - before) / (SECONDS * 1e9) * 100


def told(pattern):
    """The reviews of which the reviewers were told."""
    n = 0
    for path in glob.glob(pattern):
        with open(path) as f:
            review = json.load(f)
        n += review["state"] == "open" and "told_ms" in review
    return n


def gate_row(work, mine, peer):
    is_ok = mine[0] <= 20 and mine[1] < 0.05
    row(f"{work}: memory", f"{mine[0]:.1f} MB", f"{peer[0]:.1f} MB", f"{mine[0] / peer[0]:.2f} x", "<= 20 MB", is_ok)
    row(f"{work}: CPU", f"{mine[1]:.3f} %", f"{peer[1]:.3f} %", "-", "0.0 %", is_ok)


GATE = "type: gate, agent: hug, review: { reviewer: ann, timeout: 24h, remind_every: 6h }"


def gates():
    sleepers = [subprocess.Popen(["sleep", "3600"]) for _ in range(GATES)]
    peer = cost([p.pid for p in sleepers])
    for p in sleepers:
        p.terminate()
        p.wait()

    # All in one run, in the foreground, so its orchestrator stays.
    start = '  - { name: start, agent: exec, commands: [{ name: t, run: "true" }] }\n'
    team("many/team", start + "".join(f"  - {{ name: g{i}, {GATE}, depends_on: [start] }}\n" for i in range(GATES)))
    for words in (["init"], ["assemble", "./team"], ["req", "-m", "bench"]):
        call(*words, cwd="many")
    with open("many/out", "w") as out:
        run = subprocess.Popen([cliq, "run", "--headless", "--jobs", str(GATES)], cwd="many", env=env,
                               stdin=subprocess.DEVNULL, stdout=out)
    until(lambda: told("many/.cliq/reviews/*.json") == GATES and ours() == [run.pid], "the gates wait")
    gate_row(f"{GATES} gates of one run wait", cost([run.pid]), peer)
    reviews = [r["id"] for r in json.loads(call("review", "list", "--json", cwd="many"))]
    assert len(reviews) == GATES
    for review in reviews:
        call("review", "approve", review, cwd="many")
    assert run.wait(120) == 0, "all gates were approved, and the run did not complete"

    # A run for each, in the background: it sleeps.
    for i in range(GATES):
        team(f"runs/{i}/team", start + f"  - {{ name: g, {GATE}, depends_on: [start] }}\n")
        for words in (["init"], ["assemble", "./team"], ["req", "-m", "bench"], ["run", "--detach", "--headless"]):
            call(*words, cwd=f"runs/{i}")
    until(lambda: len(glob.glob("runs/*/.cliq/run/asleep")) == GATES and len(ours()) <= 1, "the runs sleep")
    gate_row(f"{GATES} runs in the background wait", cost(ours()), peer)
    answered = time.monotonic()
    call("review", "approve", "g", cwd="runs/0")
    until(lambda: os.path.exists("runs/0/.cliq/signals/_pipeline_status"), "the answered run ends")
    note(f"an answer to the end of the run that slept: {(time.monotonic() - answered) * 1000:.0f} ms")
    for i in range(1, GATES):
        call("cancel", cwd=f"runs/{i}", codes=(0, 130))
    until(lambda: not ours(), "nothing is left of the runs")


# ---- doctor ----


def timed(argv, **kw):
    start = time.monotonic()
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, **kw)
    return time.monotonic() - start


def doctor():
    programs = [[p, word] for p, word in (("tmux", "-V"), ("node", "--version"), ("git", "--version")) if shutil.which(p)]
    team("clinic/team", '  - { name: a, agent: exec, commands: [{ name: t, run: "true" }] }\n')
    for words in (["init"], ["assemble", "./team"], ["req", "-m", "bench"], ["run", "--headless"]):
        call(*words, cwd="clinic")
    with open("signals", "w") as f:
        for i in range(1000):
            f.write(json.dumps({"signal_type": "bench:done", "content": f"signal {i}"}) + "\n")
    for _ in range(SIGNALS // 1000):
        with open("signals") as f:
            subprocess.run([cliq, "emit", "--batch"], env=env, stdin=f, stdout=subprocess.DEVNULL, check=True)
    mine, theirs = [], []
    for _ in range(15):
        mine.append(timed([cliq, "doctor", "--offline"], cwd="clinic", env=env))
        theirs.append(sum(map(timed, programs)))
    a, b = statistics.median(mine) * 1000, statistics.median(theirs) * 1000
    row(f"cliq doctor --offline, {SIGNALS:,} signals", f"{a:.0f} ms", f"{b:.0f} ms", f"{a / b:.2f} x", "<= 200 ms", a <= 200)


# ---- install ----


def install_one(name, n, size, text):
    """A package of n files of that size. The text decides how much smaller the package is."""
    path = f"install/{name}"
    team(path, '  - { name: a, agent: exec, commands: [{ name: t, run: "true" }] }\n')
    with open(f"{path}/team.yml") as f:
        yml = f.read()
    with open(f"{path}/team.yml", "w") as f:
        f.write(yml.replace("@local/bench", f"@local/{name}"))
    for i in range(n):
        os.makedirs(f"{path}/agents/a{i // 100}", exist_ok=True)
        with open(f"{path}/agents/a{i // 100}/f{i}", "wb") as f:
            f.write(text(size))
    package = f"install/{name}.tgz"
    call("team", "pack", path, "-o", package)
    packed, unpacked = os.path.getsize(package) / (1 << 20), n * size / (1 << 20)
    mine, theirs, syncs = [], [], []
    for _ in range(7):
        os.makedirs("install/tar")
        sync()
        theirs.append(timed(["tar", "xzf", package, "-C", "install/tar"]))
        syncs.append(sync())
        shutil.rmtree("install/tar")
        sync()
        mine.append(timed([cliq, "team", "install", package], env=env))
        assert len(glob.glob(f"{env['CLIQ_HOME']}/teams/@local/{name}/agents/*/*")) == n
        call("team", "remove", f"@local/{name}")
    a, b, c = (statistics.median(x) * 1000 for x in (mine, theirs, syncs))
    row(f"install {packed:.1f} MiB, {unpacked:.1f} unpacked, {n} files", f"{a:.0f} ms", f"{b:.0f} ms", f"{a / b:.2f} x", "<= 2 x", a <= 2 * b)
    note(f"ours is on disk then; tar and a sync of the file system take {b + c:.0f} ms")


def sync():
    """Until all is on disk, so that no one pays for what another wrote."""
    return timed(["sync", "-f", "."])


def words(size):
    """Text of which gzip makes less than a fifth."""
    return b" ".join(b"%02x" % b * 5 for b in os.urandom(size // 11 + 1))[:size]


def install():
    os.makedirs("install")
    install_one("noise", 100, 101 << 10, os.urandom)
    install_one("text", 1000, 50 << 10, words)


for part in parts:
    {"gates": gates, "doctor": doctor, "install": install}[part]()
