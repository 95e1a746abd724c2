"""kill_writers.py - starts `cliq channel post`, a few at a time, and sends each SIGKILL at a
random moment, until COUNT were killed before they ended.

  kill_writers.py CLIQ ROOM COUNT SEED

Then reads the channel, without code of src/: every printed id is there exactly once with its
whole message, no message is damaged, and every other line is the beginning of one.
"""
import concurrent.futures, json, random, signal, subprocess, sys, tempfile, threading, time

cliq, room, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ATONCE = 8
channel = f".war-rooms/{room}/channel.jsonl"
rnd = random.Random(seed)
text = "".join(rnd.choice("abcé€😀\"\\\n ") for _ in range(5000)) * 100


def body_of(n, size):
    return f"{n}:{size}:" + text[n % 5000 : n % 5000 + size]


def post(n, size):
    stdin = tempfile.TemporaryFile()
    stdin.write(body_of(n, size).encode())
    stdin.seek(0)
    args = [cliq, "channel", "post", "--room", room, "--from", "engineer", "--to", "qa", "--type", "done", "--ref", str(n), "--body", "-"]
    p = subprocess.Popen(args, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdin.close()
    return p


def random_size():
    return rnd.choice([10, 100, 1000, 10000, 60000, 200000])


# `latest` adapts: smaller after each writer that completed, larger after each that was killed, so
# that both continue to happen.
latest, printed, killed, survived = 0.01, {}, 0, 0
lock = threading.Lock()


def writer(n, size, share):
    global latest, killed, survived
    p = post(n, size)
    time.sleep(share * latest)
    p.send_signal(signal.SIGKILL)
    out, err = p.communicate()
    assert p.returncode in (0, -signal.SIGKILL), f"exit code {p.returncode}: {err}"
    with lock:
        if p.returncode == 0:
            survived += 1
            latest *= 0.9
        else:
            killed += 1
            latest *= 1.05
        if out.endswith(b"\n"):
            printed[out.decode().strip()] = n


with concurrent.futures.ThreadPoolExecutor(ATONCE) as pool:
    n = 0
    while killed < count:
        batch = [pool.submit(writer, n + i, random_size(), rnd.random()) for i in range(min(4 * ATONCE, count))]
        n += len(batch)
        for job in batch:
            job.result()

whole, fragments = {}, 0
data = open(channel, "rb").read()
lines = data.split(b"\n")
for number, line in enumerate(lines, 1):
    try:
        m = json.loads(line)
    except ValueError:
        # Not a record: the beginning of one, the blank after an ended torn line, or a torn tail.
        assert line == b"" or line.startswith(b'{"v":1,"id":"') or b'{"v":1,"id":"'.startswith(line), f"line {number}: {line[:100]!r}"
        fragments += line != b""
        continue
    n, size, _ = m["body"].split(":", 2)
    assert m["body"] == body_of(int(n), int(size)), f"line {number}: damaged message {n}"
    assert m["ref"] == n and m["id"] not in whole, f"line {number}"
    whole[m["id"]] = int(n)
missing = [i for i in printed if whole.get(i) != printed[i]]
assert not missing, f"acknowledged but not there: {missing}"
assert len(set(whole.values())) == len(whole), "a message stands there twice"
print(f"{killed} killed, {survived} not, {len(printed)} acknowledged, {len(whole)} whole messages, {fragments} fragments")
assert survived and len(whole) > len(printed) // 2
