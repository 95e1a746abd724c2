"""A key that somebody else revokes is refused by a running server from then on.

  revoke.py CLIQ HOME URL cli|line TIMES

Makes TIMES keys, shows each once, so that the server knows it, revokes it behind the server's back
and asks with it at once, on a connection that is open: the next answer must be 401. How it is
revoked: by a command; by a line that this program appends itself, so that nobody has folded it
when the server is asked. Meanwhile another connection emits
without a pause, so that rounds follow each other. Prints how often it was so.
"""
import http.client, json, os, subprocess, sys, threading, urllib.parse

cliq, home, url, how, times = sys.argv[1:6]
LOG = f"{home}/signals/events.jsonl"
at = urllib.parse.urlparse(url)
admin = open(f"{home}/admin.key").read().strip()
is_over = threading.Event()


class Client:
    def __init__(self):
        self.c = http.client.HTTPConnection(at.hostname, at.port, timeout=20)

    def ask(self, method, path, key, body=None):
        headers = {"Authorization": f"Bearer {key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.c.request(method, path, None if body is None else json.dumps(body), headers)
        r = self.c.getresponse()
        return r.status, json.loads(r.read())


def load():
    c = Client()
    while not is_over.is_set():
        assert c.ask("POST", "/emit", admin, {"signal_type": "note"})[0] == 200


def revoke(key_id):
    if how == "cli":
        subprocess.run([cliq, "key", "revoke", key_id], check=True, env={**os.environ, "CLIQ_HOME": home}, stdout=subprocess.DEVNULL)
        return
    with open(LOG, "a") as f:
        f.write(json.dumps({"op": "revoke", "id": key_id, "by": "test"}) + "\n")


c = Client()
busy = threading.Thread(target=load)
busy.start()
try:
    for i in range(int(times)):
        status, made = c.ask("POST", "/keys", admin, {"identity": "ci"})
        assert status == 200, made
        key = made["data"]["key"]
        assert c.ask("GET", "/signals/list?limit=1", key)[0] == 200
        revoke(made["data"]["id"])
        # one is answered from the index, one by the worker, one by the loop alone; each is the first
        # to be asked now and then
        asks = [("GET", "/signals/none", None), ("POST", "/emit", {"signal_type": "x"}), ("POST", "/signals/ticket", {})]
        for method, path, body in asks[i % 3 :] + asks[: i % 3]:
            status, answer = c.ask(method, path, key, body)
            assert status == 401, f"{how} {i}: {method} {path} was answered {status}: {answer}"
finally:
    is_over.set()
    busy.join()
print(times)
