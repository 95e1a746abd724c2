"""A foreign writer: Python with fcntl.flock, as the channel format's page shows it.

  writer.py ROOM_DIR NAME COUNT [late]

Writes the same messages as test/tools/writer.c. With `late` the text stays in
Python's buffer until the file is closed, as it does in the page's snippet, so it
reaches the file after the lock was given back.
"""
import fcntl, json, os, sys, time

from check_writers import body_of

room, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
is_late = len(sys.argv) > 4
path = os.path.join(room, "channel.jsonl")

for n in range(count):
    now = time.time_ns()
    message = {
        "v": 1,
        "id": f"{name}-progress-{now}-{os.getpid()}",
        "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now // 10**9)),
        "from": name,
        "to": "all",
        "type": "progress",
        "ref": name,
        "body": body_of(name, n),
    }
    with open(path, "a") as f:
        fcntl.flock(f.fileno(), fcntl.LOCK_EX)
        f.write(json.dumps(message) + "\n")
        if not is_late:
            f.flush()
        fcntl.flock(f.fileno(), fcntl.LOCK_UN)
    print(message["id"])
