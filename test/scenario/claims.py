"""claims - clients of `cliq serve` that wait for tasks, for the stories of serve_waiting.bats.

    claims.py PORT KEY <STORY     python, with what is defined here; the roles dev and ops are there
"""
import json, socket, sys, time

port, key = int(sys.argv[1]), sys.argv[2]


def connect():
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(30)
    return s


def ask(method, path, body=None, s=None):
    s = s or connect()
    text = json.dumps(body) if body else ""
    kind = "Content-Type: application/json\r\n" if body else ""
    s.sendall((f"{method} {path} HTTP/1.0\r\nHost: localhost:{port}\r\nAuthorization: Bearer {key}\r\n"
               f"{kind}Content-Length: {len(text)}\r\n\r\n{text}").encode())
    return s


def hear(s):
    parts = []
    while part := s.recv(1 << 20):
        parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    return body


def answer(s):
    return json.loads(hear(s))["data"]


def waiting(n):
    """Returns when so many claims wait."""
    end = time.monotonic() + 30
    while f"\ncliq_claims_waiting {n}\n".encode() not in hear(ask("GET", "/metrics")):
        assert time.monotonic() < end, f"there are never {n} that wait"


def claim(role, seconds):
    return ask("POST", "/claim", {"role": role, "wait_seconds": seconds})


def crowd(n, already=0):
    """So many wait for ops; in portions, as a server that is slow refuses more at once than a round holds."""
    clients = []
    for i in range(n):
        clients.append(claim("ops", 60))
        if (i + 1) % 100 == 0:
            waiting(already + i + 1)
    return clients


def emit(role, content=""):
    answer(ask("POST", "/emit", {"signal_type": "task", "to_role": role, "content": content}))


for role in ("dev", "ops"):
    answer(ask("POST", "/roles", {"id": role}))
exec(sys.stdin.read())
