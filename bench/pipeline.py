"""pipeline.py - pipelines beside GNU make: the same graph of `sh -c true`, in turns; medians.

    pipeline.py CLIQ STAMP        prints rows for bench/run

A chain of 100 exec phases shows the cost of one step; 1,000 independent phases with --jobs 8
show the cost of parallel ones. The journal is durable: one fdatasync per transition. The
three-phase pipeline is compared with the documented poll of 3 s per phase (9.06 s). The same chain
of 100 phases as 20 teams of five, each a phase of the run, shows what a phase costs in a team. A chain of
300 agents that only record the time (bench/stamp.c) shows the time between the terminal line of
one phase and the first instruction of the next.
"""
import os, shutil, statistics, subprocess, sys, tempfile, time

cliq, stamp = sys.argv[1:3]
env = dict(os.environ, CLIQ_HOME=os.path.abspath("home"))


def timed(argv, **kw):
    start = time.monotonic()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True, **kw)
    return time.monotonic() - start


def peak_kb(argv, **kw):
    """The peak memory, read every 20 ms. (The value of wait4 includes our own before exec.)"""
    start, peak = time.monotonic(), 0
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, **kw)
    while p.poll() is None:
        try:
            with open(f"/proc/{p.pid}/status") as f:
                peak = max([peak] + [int(l.split()[1]) for l in f if l.startswith("VmHWM")])
        except OSError:
            pass
        time.sleep(0.02)
    assert p.returncode == 0, argv
    return time.monotonic() - start, peak


def spread(path):
    """Makes ext4 spread the directories in `path` over the disk. By default it puts them near
    others; where thousands of files were just deleted, each creation then searches all their
    inodes, for minutes. Other file systems ignore this."""
    subprocess.run(["chattr", "+T", path], stderr=subprocess.DEVNULL)


EXEC = 'agent: exec, commands: [{ name: t, run: "true" }]'
STAMP = "agent: stamp, env: { STAMPS: ../stamps }"


def graph(n, is_chain, phase=EXEC, head=""):
    """Makes a team of n phases, and a makefile with the same graph."""
    name = f"{'chain' if is_chain else 'wide'}{n}"
    os.makedirs(f"{name}/team")
    spread(name)
    with open(f"{name}/team/team.yml", "w") as f:
        f.write(f'name: "@local/bench"\ndescription: bench\n{head}phases:\n')
        for i in range(n):
            after = f", depends_on: [p{i - 1}]" if is_chain and i else ""
            f.write(f'  - {{ name: p{i}, {phase}{after} }}\n')
    with open(f"{name}/Makefile", "w") as f:
        f.write("all: " + " ".join(f"p{i}" for i in range(n)) + "\n")
        for i in range(n):
            f.write(f"p{i}: {f'p{i - 1}' if is_chain and i else ''}\n\t@sh -c true\n")
    return name


def nested(teams, phases):
    """Makes a team whose phases are a chain of teams, each a chain of phases."""
    name = f"nested{teams}"
    inner, outer = f"{name}/team/teams/inner", f"{name}/team"
    os.makedirs(inner)
    os.makedirs(f"{outer}/roles")
    spread(name)
    shutil.copy(f"{graph(phases, True)}/team/team.yml", inner)
    with open(f"{outer}/roles/inner.md", "w") as f:
        f.write("Do all that the phases of this team do, one after the other.\n")
    with open(f"{outer}/team.yml", "w") as f:
        f.write('name: "@local/bench"\ndescription: bench\nphases:\n')
        for i in range(teams):
            after = f", depends_on: [p{i - 1}]" if i else ""
            f.write(f"  - {{ name: p{i}, type: team, team: ./teams/inner, role: inner{after} }}\n")
    return name


def ours(name, *words, how=timed):
    """Times a first run, in a new project."""
    project = tempfile.mkdtemp(dir=name)
    for first in (["init"], ["assemble", "../team"], ["req", "-m", "bench"]):
        subprocess.run([cliq, *first], cwd=project, env=env, check=True, stdout=subprocess.DEVNULL)
    return how([cliq, "run", "--headless", *words], cwd=project, env=env)


def row(work, a, b, ratio, reach, is_ok):
    print(f"row\t{work}\t{a}\t{b}\t{ratio}\t{reach}\t{'ok' if is_ok else 'MISS'}", flush=True)


def beside_make(name, work, words, make_words, rounds):
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(ours(name, *words))
        theirs.append(timed(["make", "-s", "-C", name, *make_words]))
    a, b = statistics.median(mine), statistics.median(theirs)
    row(work, f"{a * 1000:.0f} ms", f"{b * 1000:.0f} ms", f"{a / b:.2f} x", "<= 3 x", a <= 3 * b)
    return a


chain = graph(100, True)
a100 = beside_make(chain, "chain of 100 exec phases beside make", [], [], 21)
beside_make(graph(1000, False), "1,000 phases, --jobs 8, beside make -j8", ["--jobs", "8"], ["-j8"], 3)
small = graph(3, True)
three = statistics.median(ours(small) for _ in range(9))
row("3 phases beside the poll of 3 s", f"{three * 1000:.0f} ms", "9060 ms", f"{9.06 / three:.0f} x", ">= 300 x",
    9.06 / three >= 300)
long = graph(1000, True)
a1000, peak = map(statistics.median, zip(*(ours(long, how=peak_kb) for _ in range(3))))
growth = (a1000 / 1000) / (a100 / 100)
row("chain of 1,000 beside 100, time a phase", f"{a1000:.2f} s", f"{a100 * 10:.2f} s", f"{growth:.2f} x", "<= 1.2 x",
    growth <= 1.2)
row("orchestrator's memory, 1,000 phases", f"{peak / 1024:.1f} MB", "-", "-", "<= 16 MB", peak <= 16 * 1024)

in_teams = nested(20, 5)
pairs = [(ours(in_teams), ours(chain)) for _ in range(11)]
a, b = (statistics.median(x) for x in zip(*pairs))
row("100 phases in 20 teams of five beside flat", f"{a * 1000:.0f} ms", f"{b * 1000:.0f} ms", f"{a / b:.2f} x", "<= 1.3 x",
    a <= 1.3 * b)

between = graph(300, True, STAMP, "agents:\n  stamp:\n    entry: agents/stamp/agent\n")
os.makedirs(f"{between}/team/agents/stamp")
shutil.copy(stamp, f"{between}/team/agents/stamp/agent")


def gaps():
    """The times between a terminal line and the next start in one run, in ms, sorted."""
    ours(between)
    with open(f"{between}/stamps") as f:
        stamps = sorted(tuple(map(int, line.split())) for line in f)
    os.remove(f"{between}/stamps")
    return sorted((b[0] - a[1]) / 1e6 for a, b in zip(stamps, stamps[1:]))


rounds = [gaps() for _ in range(3)]
p99 = statistics.median(g[int(len(g) * 0.99)] for g in rounds)
row("terminal line to the next phase's start, p99", f"{p99:.2f} ms", "-", "-", "<= 5 ms", p99 <= 5)
print(f"note\tmedian {statistics.median(g for r in rounds for g in r):.2f} ms, of which a sync of the journal")
