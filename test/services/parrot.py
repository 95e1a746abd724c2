"""A service that repeats what it is sent, its keys too: in the place of every model, connector and notifier.

$T/mode is the status that it answers with, or `silent`: no answer while nobody opens the pipe $T/go.
"""
import base64, json
from service import T, Service, serve


def mode():
    with open(T + "/mode") as f:
        return f.read().strip()


class Parrot(Service):
    def stall(self, r):
        if mode() == "silent":
            open(T + "/go").close()

    def do(self, r):
        auth = r.headers.get("authorization", "")
        if auth.startswith("Basic "):
            auth = base64.b64decode(auth[6:]).decode()
        words = f"{auth} to {r.raw} with {r.headers} and {r.body[:2000]}"
        return int(mode()), {"message": words, "error": {"message": words}, "id": "1", "key": "P-1", "fields": {"summary": words}}


serve(Parrot)
