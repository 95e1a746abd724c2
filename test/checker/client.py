"""client - a small HTTP/1.1 client: one connection that is kept, JSON in, JSON out.

    c = Client("http://127.0.0.1:3000", key)
    status, answer = c.ask("POST", "/emit", {"signal_type": "pulse"}, {"Idempotency-Key": "k"})

Lost: nobody knows whether the request was done (the connection broke, or did not come to be).
Shares no code with src/.
"""
import json, socket

ANSWER_WITHIN_S = 30


class Lost(Exception):
    pass


class Client:
    def __init__(self, url, key):
        host, port = url.removeprefix("http://").split(":")
        self.address, self.key, self.sock = (host, int(port)), key, None

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock = None

    def ask(self, method, path, body=None, headers=()):
        text = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} {path} HTTP/1.1", f"Host: {self.address[0]}:{self.address[1]}", f"Authorization: Bearer {self.key}"]
        head += [f"{k}: {v}" for k, v in dict(headers).items()]
        if body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(text)}"]
        try:
            if not self.sock:
                self.sock = socket.create_connection(self.address, timeout=ANSWER_WITHIN_S)
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + text)
            return self.answer()
        except OSError as why:
            self.close()
            raise Lost(str(why)) from None

    def answer(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.more()
        head, rest = data.split(b"\r\n\r\n", 1)
        status, *lines = head.decode().split("\r\n")
        fields = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines)}
        length = int(fields["content-length"])
        while len(rest) < length:
            rest += self.more()
        assert len(rest) == length, "more bytes than the answer has"
        if fields.get("connection", "").lower() == "close":
            self.close()
        return int(status.split()[1]), json.loads(rest) if rest else None

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionResetError("the server hung up")
        return data
