"""A server for notifications: writes each request to $T/requests, one JSON object a line, and its
port to $T/port. The path says how it answers; /api/ is Slack's Web API with the token xoxb-good."""
import http.server, json, os, threading, urllib.parse

T = os.environ["T"]
count, lock = {}, threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def say(self, status, body=b"ok", kind="text/plain", **head):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for key, value in head.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def slack(self, method, body):
        form = self.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded")
        message = dict(urllib.parse.parse_qsl(body.decode())) if form else json.loads(body)
        if self.headers.get("Authorization") != "Bearer xoxb-good":
            answer = {"ok": False, "error": "invalid_auth"}
        elif method == "auth.test":
            answer = {"ok": True, "user": "cliq-bot", "team": "Acme"}
        elif method == "chat.postMessage" and message.get("channel") == "C1":
            answer = {"ok": True, "ts": "1.2"}
        else:
            answer = {"ok": False, "error": "channel_not_found"}
        self.say(200, json.dumps(answer).encode(), "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with lock:
            n = count[self.path] = count.get(self.path, 0) + 1
            with open(T + "/requests", "a") as f:
                f.write(json.dumps({"method": self.command, "path": self.path, "body": body.decode(),
                                    "headers": {k.lower(): v for k, v in self.headers.items()}}) + "\n")
        word = self.path.rsplit("/", 1)[-1]
        if self.path.startswith("/api/"):
            self.slack(word, body)
        elif word == "limited":
            self.say(*((429, b"later") if n == 1 else (200,)), Retry_After="1")
        elif word == "patience":
            self.say(429, b"later", Retry_After="3600")
        elif word == "flaky":
            self.say(500 if n == 1 else 200)
        elif word == "broken":
            self.say(400, ("you sent " + self.path + " " + body.decode()).encode())
        elif word == "removed":
            self.say(404, b"no_service")
        elif word == "gone":
            self.say(410)
        elif word == "moved":
            self.say(307, Location="/hook/there")
        elif word == "slow":
            threading.Event().wait(30)
        else:
            self.say(200)

    do_GET = do_POST


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(T + "/port.new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(T + "/port.new", T + "/port")
server.serve_forever()
