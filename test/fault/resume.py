"""resume.py - kills the orchestrator with SIGKILL, each time at another moment, and resumes the
run. Checks that the run ends as it does undisturbed, every attempt starts exactly once, no
finished phase runs again, and no process is left.

  resume.py CLIQ lines [STEP]     when the journal has 1, 2, ... N lines, or each STEP-th
  resume.py CLIQ random COUNT     at random moments, the resumed runs too
  resume.py CLIQ calls SYSCALL..  at the first, second, ... call of each (needs strace)

The team has two branches, a phase that is retried, one that is skipped, and a gate with
checks and an agent that sends work back once. Agents write down their starts outside of
.cliq/. EXECUTOR=tmux: with agents in panes; TEAM=own: with cliq's own agents; TEAM=nested: the team is a
phase of another one, and the lines are those of both journals; TEAM=twice: and a gate behind it sends all of it
back once. Shares no code with src/.
"""
import glob, json, os, random, shutil, subprocess, sys, tempfile, threading, time

cliq, mode, *rest = sys.argv[1:]
headless = [] if os.environ.get("EXECUTOR") == "tmux" else ["--headless"]
seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
root = tempfile.mkdtemp(prefix="resume.", dir=os.environ.get("T"))

AGENT = r"""
P=$CLIQ_PHASE N=$CLIQ_ATTEMPT_NUMBER S=$CLIQ_STATE_DIR/signals/$CLIQ_PHASE.jsonl
T=$CLIQ_PROJECT_DIR/..
cat >/dev/null
echo "$P.$N" >>"$T/starts"
line() { printf '{"version":1,"type":"phase",%s}\n' "$1" >>"$S"; }
line '"status":"ok"'
sleep 0.0$(($$ % 5))
"""
WORKER = AGENT + r"""
[ "$P.$N" != right.1 ] || { line '"status":"error","error":"once"'; exit 1; }
for to in "$CLIQ_STATE_DIR"/channels/$P--*; do
    printf '{"version":1,"phase_type":"standard","phase":"%s","agent":"w","text":"%s","data":{"go":"no"}}\n' $P $P.$N >"$to/.h"
    mv "$to/.h" "$to/handoff.json"
done
line '"status":"progress","message":"nearly"'
line '"status":"complete"'
"""
JUDGE = AGENT + r"""
to=left; [ "$P" != judge ] || to=build
if [ "$N" = 1 ]; then v='"outcome":"ROUTE","target":"'$to'"'; else v='"outcome":"PASS"'; fi
line "\"status\":\"complete\",\"result\":{\"verdict\":{$v,\"reason\":\"n$N\"}}"
"""
TEAM = """
name: "@local/resume"
description: a team that is killed
agents: {w: {entry: agents/w/a.sh}, g: {entry: agents/g/a.sh}}
phases:
  - {name: plan, agent: w}
  - {name: left, agent: w, depends_on: [plan]}
  - {name: right, agent: w, depends_on: [plan], retries: 1}
  - {name: never, agent: w, depends_on: [plan], when: "$(handoff.plan.go) == yes"}
  - {name: gate, type: gate, agent: g, depends_on: [left, right], commands: [{name: c, run: 'echo "check.$CLIQ_ATTEMPT_NUMBER" >>../starts'}]}
  - {name: ship, agent: w, depends_on: [gate, never]}
"""
TEXTS = ["plan.1", "left.2", "right.2", "ROUTE to left: n1", "PASS: n2"]
# The same by agents of cliq's own.
STEP = r"""
cat >/dev/null
P=$CLIQ_PHASE N=$CLIQ_ATTEMPT_NUMBER
echo "$P.$N" >>../starts
sleep 0.0$(($$ % 5))
[ "$P.$N" != right.1 ] || exit 1
printf '%s\n```json\n{"go":"no"}\n```\n' "$P.$N"
"""
CHECK = r"""
N=$CLIQ_ATTEMPT_NUMBER
printf 'check.%s\ngate.%s\n' "$N" "$N" >>../starts
[ "$N" != 1 ]
"""
def own(name, more="", agent="script", run=STEP):
    return f"  - {{name: {name}, agent: {agent}, {more}commands: [{{name: c, run: {json.dumps(run)}}}]}}\n"
if os.environ.get("TEAM") == "own":
    TEAM = """
name: "@local/resume"
description: a team that is killed
phases:
""" + own("plan") + own("left", "depends_on: [plan], ") + own("right", "depends_on: [plan], retries: 1, ") + \
        own("never", 'depends_on: [plan], when: "$(handoff.plan.go) == yes", ') + \
        own("gate", "type: gate, depends_on: [left, right], ", "checks", CHECK) + own("ship", "depends_on: [gate, never], ")
    TEXTS = ["plan.1", "left.2", "right.2", "ROUTE to left: 0 of 1 checks passed: c failed with exit code 1", "PASS: 1 of 1 checks passed"]
STARTED = 8
WANT = sorted("plan.1 left.1 right.1 right.2 check.1 gate.1 left.2 check.2 gate.2 ship.1".split())
INNER = None
if os.environ.get("TEAM") in ("nested", "twice"):
    INNER, TIMES = TEAM, 2 if os.environ["TEAM"] == "twice" else 1
    TEAM = """
name: "@local/outer"
description: a team that is killed
agents: {w: {entry: agents/w/a.sh}, g: {entry: agents/g/a.sh}}
phases:
  - {name: first, agent: w}
  - {name: build, type: team, team: ./teams/inner, depends_on: [first]}
""" + ("  - {name: judge, type: gate, agent: g, depends_on: [build]}\n" if TIMES == 2 else "") + """
  - {name: last, agent: w, depends_on: [%s]}
""" % ("judge" if TIMES == 2 else "build")
    WANT = sorted(TIMES * WANT + ["first.1", "last.1"] + (["judge.1", "judge.2"] if TIMES == 2 else []))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


write(f"{root}/team/team.yml", TEAM)
write(f"{root}/team/agents/w/a.sh", WORKER)
write(f"{root}/team/agents/g/a.sh", JUDGE)
if INNER:
    write(f"{root}/team/roles/build.md", "Build what the plan says, test it, and say what is missing in it.")
    write(f"{root}/team/teams/inner/team.yml", INNER)
    write(f"{root}/team/teams/inner/agents/w/a.sh", WORKER)
    write(f"{root}/team/teams/inner/agents/g/a.sh", JUDGE)


class Project:
    def __init__(self, name):
        self.home = f"{root}/{name}"
        self.dir = f"{self.home}/proj"
        os.makedirs(self.dir)
        self.env = {**os.environ, "CLIQ_HOME": f"{self.home}/rc"}
        for args in (["init"], ["assemble", f"{root}/team"]):
            subprocess.run([cliq, *args], cwd=self.dir, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def start(self, *args, prefix=()):
        return subprocess.Popen([*prefix, cliq, "run", *headless, *args], cwd=self.dir, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def lines(self):
        """Of the journal, and of those of team phases."""
        n = 0
        for path in [f"{self.dir}/.cliq/run/journal.jsonl", *glob.glob(f"{self.dir}/.cliq/frames/build/**/run/journal.jsonl", recursive=True)]:
            try:
                with open(path, "rb") as f:
                    n += f.read().count(b"\n")
            except FileNotFoundError:
                pass
        return n

    def finish(self, what):
        """Resumes until the end, and compares the result with that of an undisturbed run."""
        p = self.start("--resume")
        try:
            out = p.communicate(timeout=40)[0].decode()
        except subprocess.TimeoutExpired:
            p.kill()
            out = "it hangs\n" + p.communicate()[0].decode()
        try:
            self.check(p.returncode)
        except AssertionError as e:
            journal = open(f"{self.dir}/.cliq/run/journal.jsonl").read()
            raise AssertionError(f"{what} (SEED={seed}): {e}\n{out}\n{journal}") from None
        shutil.rmtree(self.home)

    def check(self, code):
        state = f"{self.dir}/.cliq"
        got = sorted(open(f"{self.home}/starts").read().split()) if os.path.exists(f"{self.home}/starts") else []
        assert code == 0, f"exit code {code}"
        assert got == WANT, f"started: {got}"
        assert open(f"{state}/signals/_pipeline_status").read() == "COMPLETED"
        if INNER:
            self.check_journal(state, 6 if TIMES == 2 else 3)
            runs = glob.glob(f"{state}/frames/build/runs/*")
            assert len(runs) == TIMES - 1, runs
            for run in runs:
                self.check_journal(run, STARTED)
            self.check_data(state)
            state = f"{state}/frames/build"
        self.check_journal(state, STARTED)
        text = lambda c: json.load(open(f"{state}/channels/{c}/handoff.json"))["text"].split("\n")[0].split(" after ")[0]
        assert [text("plan--left"), text("left--gate"), text("right--gate"), text("gate--left"), text("gate--ship")] == TEXTS
        assert os.path.exists(f"{state}/signals/left_routed")
        assert not (alive := self.alive()), f"left: {alive}"
        # another resume reports the same end and runs nothing
        p = self.start("--resume")
        out = p.communicate(timeout=20)[0].decode()
        assert p.returncode == 0 and "COMPLETED" in out, out
        assert sorted(open(f"{self.home}/starts").read().split()) == WANT

    def check_journal(self, state, started):
        journal = [json.loads(l) for l in open(f"{state}/run/journal.jsonl")]
        assert journal[-1]["ev"] == "end" and journal[-1]["status"] == "COMPLETED", journal[-1]
        for ev in ("started", "result"):
            names = [(e["phase"], e["attempt"]) for e in journal if e["ev"] == ev]
            assert len(names) == len(set(names)) == started, (ev, names)

    def check_data(self, state):
        """The outputs of the team, where the phase behind it reads them."""
        data = json.load(open(f"{state}/channels/build--{'judge' if TIMES == 2 else 'last'}/handoff.json"))["data"]
        assert data == {"status": "COMPLETED", "outputs": {"ship": {"go": "no"}}}, data

    def alive(self):
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                if f"CLIQ_STATE_DIR={self.dir}/".encode() in open(path, "rb").read():
                    found.append(open(path.replace("environ", "cmdline")).read())
            except OSError:
                pass
        return found


def kill(p):
    p.kill()
    p.communicate()


def at_line(k):
    """Kills when the journal has k lines; False: it never had that many."""
    j = Project(f"line{k}")
    p = j.start()
    while j.lines() < k and p.poll() is None:
        pass
    was_there = p.poll() is None
    kill(p)
    time.sleep(0.1 * (k % 2))  # with and without progress of the agents meanwhile
    j.finish(f"killed at line {k}")
    return was_there


def at_random(k):
    """Kills one to three times, at random moments."""
    r = random.Random(seed + k)
    j = Project(f"random{k}")
    args = []
    moments = [(r.uniform(0, 1.2 if i == 0 else 0.5), r.choice([0, 0, r.uniform(0, 0.2)])) for i in range(r.randint(1, 3))]
    for until, pause in moments:
        p = j.start(*args)
        time.sleep(until)
        kill(p)
        time.sleep(pause)
        args = ["--resume"]
    j.finish(f"random {k}, {moments}")
    return True


def at_call(call, k):
    """Kills at the k-th call of this kind; False: there were fewer calls."""
    j = Project(f"{call}{k}")
    p = j.start(prefix=["strace", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={k}"])
    p.communicate()
    was_there = p.returncode != 0
    j.finish(f"killed at {call} {k}")
    return was_there


def sweep(fn, limit=10**6):
    """Calls fn(1), fn(2), ... from two threads until one returns False or the limit is reached."""
    state = {"next": 1, "failed": None, "done": 0}
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                k = state["next"]
                if k > limit or state["failed"]:
                    return
                state["next"] = k + 1
            try:
                more = fn(k)
            except BaseException as e:
                state["failed"] = e
                return
            with lock:
                state["done"] += 1
                if not more:
                    return

    threads = [threading.Thread(target=work) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    if state["failed"]:
        raise SystemExit(str(state["failed"]))
    return state["done"]


Project("quiet").finish("undisturbed")
if mode == "lines":
    step = int(rest[0]) if rest else 1
    n = sweep(lambda k: at_line(1 + (k - 1) * step))
    assert n * step > 20, n
    print(f"killed at {n} lines")
elif mode == "random":
    print(f"killed at {sweep(at_random, int(rest[0]))} random moments")
else:
    for call in rest:
        print(f"killed at {sweep(lambda k: at_call(call, k))} calls of {call}")
shutil.rmtree(root)
