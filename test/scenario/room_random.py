"""room_random.py - rooms whose roles fail, crash, hang and lie at random, and what must hold all the same.

  room_random.py CLIQ ROOMS     with SEED from the environment, or a random one that a failure tells

Every room ends. Tries are exact: a room failed for good has as many as it may have, one that passed has fewer. Each move is
due to a message of the state's own role, behind the line that opened the state. No attempt runs twice, and a state starts
its role at most four times. Shares no code with src/.
"""
import json, os, random, subprocess, sys

cliq, count = sys.argv[1], int(sys.argv[2])
seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
os.makedirs(".cliq", exist_ok=True)
os.makedirs("acts", exist_ok=True)
r = random.Random(seed)
here = os.getcwd()

LIE = '"$0" channel post --room "$CLIQ_ROOM" --from %s --to manager --type %s --ref x --body lie >/dev/null\n'
ACTS = {
    "engineer": ["echo work", "echo work", "echo work", "exit 3", "kill -9 $$", "sleep 1000", LIE % ("qa", "pass") + "echo work",
                 "head -c 100000 /dev/zero", LIE % ("engineer", "done") + "exit 9"],
    "qa": ["echo VERDICT: PASS", "echo VERDICT: FAIL", "echo VERDICT: FAIL", "echo no idea", "exit 1", "kill -9 $$",
           "echo VERDICT: PASS; exit 2", LIE % ("engineer", "done") + "echo VERDICT: FAIL", "echo VERDICT: PASS; echo VERDICT: FAIL"],
}
for n in range(count):
    for role, acts in ACTS.items():
        for k in range(1, 60):
            with open(f"acts/room-{n}.{role}.{k}", "w") as f:
                f.write("cat >/dev/null\n" + r.choice(acts) + "\n")
for role in ACTS:
    # each start is a file of its own: a second start of the same attempt would be one too many
    command = (f"k=1; until mkdir '{here}/acts/'$CLIQ_ROOM.{role}.$k.began 2>/dev/null; do k=$((k+1)); done; "
               f"exec sh '{here}/acts/'$CLIQ_ROOM.{role}.$k")
    command = command.replace("exec sh ", f"exec sh -c '. \"$1\"' '{cliq}' ")
    subprocess.run([cliq, "settings", f"roles.{role}.command", command], check=True, stdout=subprocess.DEVNULL)
limits = {}
for n in range(count):
    limits[n] = r.randint(1, 3)
    subprocess.run([cliq, "room", "create", f"room-{n}", "-m", "x", "--max-retries", str(limits[n]), "--timeout", "1s"], check=True,
                   stdout=subprocess.DEVNULL)
done = subprocess.run([cliq, "room", "run", "--jobs", "8"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)


def check(n):
    room = f".war-rooms/room-{n}"
    journal = [json.loads(l) for l in open(f"{room}/journal.jsonl")]
    life = json.load(open(f"{room}/lifecycle.json"))["states"]
    places, at = {}, 0
    for line in open(f"{room}/channel.jsonl", "rb"):
        m = json.loads(line)
        assert m["id"] not in places, f"posted twice: {m['id']}"
        places[m["id"]] = (at, at + len(line), m)
        at += len(line)
    state, after, retries, visit, starts = "developing", 0, 0, 1, 0
    for e in journal[1:]:
        if e["ev"] == "start":
            starts += 1
            assert (e["visit"], e["n"]) == (visit, starts) and e["role"] == life[state]["role"], e
            assert starts <= 4, f"{starts} starts in one state"
        if e["ev"] != "move":
            continue
        assert e["from"] == state and e["visit"] == visit + 1, e
        if not e.get("late"):
            begin, end, m = places[e["by"]]
            assert m["from"] == life[state]["role"] and m["type"] in life[state]["signals"], (e, m)
            assert begin >= after, f"stale: {e} counted {m}"
        counts = e.get("late") or "increment_retries" in life[state]["signals"][m["type"]].get("actions", [])
        retries += bool(counts)
        assert e["retries"] == retries <= limits[n], (e, retries)
        if counts and retries == limits[n]:
            assert e["to"] == "failed-final", e
        state, visit, starts, after = e["to"], visit + 1, 0, e["after"]
        if e.get("id"):
            after = places[e["id"]][1]
    assert state in ("passed", "failed-final"), state
    assert open(f"{room}/status").read().strip() == state
    assert int(open(f"{room}/retries").read()) == retries
    if state == "failed-final":
        assert retries == limits[n], (state, retries)
    return state == "passed"


try:
    passed = [check(n) for n in range(count)]
    assert done.returncode == (0 if all(passed) else 3), done.returncode
except AssertionError as e:
    raise AssertionError(f"SEED={seed}: {e}\n{done.stdout.decode()[-6000:]}") from None
print(f"{sum(passed)} of {count} passed")
