"""A key that an HTTP request revokes writes nothing behind that, in the round that waits, too.

  revoke_round.py HOME URL

Holds the lock of the log, so that requests gather: an emit that the worker waits with; then, in the
next round, the revocation of ruby's key and behind it requests with that key. A claim with that key
waits for a task since before. Prints the statuses in the order of the requests.
"""
import fcntl, http.client, json, sys, urllib.parse

home, url = sys.argv[1:3]
LOG = f"{home}/signals/events.jsonl"
at = urllib.parse.urlparse(url)
admin = open(f"{home}/admin.key").read().strip()


def send(method, path, key=None, body=None):
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=30)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    c.request(method, path, None if body is None else json.dumps(body), headers)
    return c


def answer(c):
    r = c.getresponse()
    return r.status, json.loads(r.read())


def arrived():
    """The server has read what was sent before: it answers this later."""
    answer(send("GET", "/health"))


status, made = answer(send("POST", "/keys", admin, {"identity": "ruby"}))
assert status == 200, made
key, key_id = made["data"]["key"], made["data"]["id"]
assert answer(send("POST", "/emit", key, {"signal_type": "note"}))[0] == 200
claim = send("POST", "/claim", key, {"wait_seconds": 20})
arrived()
with open(LOG, "r+") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    asked = []
    for path, by, body in [
        ("/emit", admin, {"signal_type": "note"}),
        (f"/keys/revoke", admin, {"id": key_id}),
        ("/emit", key, {"signal_type": "task", "content": "too late"}),
        ("/claim", key, {}),
        ("/emit", admin, {"signal_type": "task", "content": "for anyone"}),
    ]:
        asked.append(send("POST", path, by, body))
        arrived()
    fcntl.flock(f, fcntl.LOCK_UN)
print(*[answer(c)[0] for c in asked], answer(claim)[0])
lines = [json.loads(line) for line in open(LOG)]
revoked = next(i for i, v in enumerate(lines) if v.get("op") == "revoke" and v["id"] == key_id)
late = [v for v in lines[revoked:] if v.get("by") == "ruby" or v.get("source", {}).get("id") == "ruby"]
assert not late, late
