"""A mail server for tests: writes each mail to $T/mails as one JSON line {from, to, text, auth, tls},
each command to $T/talk, and its port to $T/port.

    smtp_server.py [--cert CERT KEY] [--tls] [--auth PLAIN|LOGIN] [--busy N] [--silent]

With a certificate it offers STARTTLS, with --tls it speaks TLS from the first byte. --auth: user eve,
password s3cret-pass. The first N mails are refused for now (451). --silent never answers.
"""
import base64, json, os, socketserver, ssl, sys, threading

T = os.environ["T"]
args = sys.argv[1:]
def option(name, n):
    return args[args.index(name) + 1:args.index(name) + 1 + n] if name in args else None
cert, mechanism, busy = option("--cert", 2), option("--auth", 1), int((option("--busy", 1) or [0])[0])
context = None
if cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*cert)
lock = threading.Lock()
state = {"busy": busy}


def b64(text):
    return base64.b64encode(text).decode()


class Handler(socketserver.BaseRequestHandler):
    def say(self, line):
        self.request.sendall(line.encode() + b"\r\n")

    def line(self):
        text = self.file.readline()
        if not text:
            raise EOFError
        with lock, open(T + "/talk", "ab") as f:
            f.write(text)
        return text.rstrip(b"\r\n")

    def encrypt(self):
        self.request = context.wrap_socket(self.request, server_side=True)
        self.file = self.request.makefile("rb")
        self.tls = True

    def greet(self):
        words = ["test"]
        if context and not self.tls:
            words.append("STARTTLS")
        if mechanism and (self.tls or not context):
            words.append("AUTH " + mechanism[0])
        for i, word in enumerate(words):
            self.say("250%s%s" % ("-" if i + 1 < len(words) else " ", word))

    def authenticate(self, words):
        if words[1] == b"PLAIN":
            if len(words) < 3:
                self.say("334 ")
                words.append(self.line())
            given = base64.b64decode(words[2]).split(b"\0")[1:]
        else:
            self.say("334 " + b64(b"Username:"))
            user = base64.b64decode(self.line())
            self.say("334 " + b64(b"Password:"))
            given = [user, base64.b64decode(self.line())]
        if given == [b"eve", b"s3cret-pass"]:
            self.auth = words[1].decode()
            self.say("235 welcome")
        else:
            self.say("535 5.7.8 wrong: " + given[1].decode())

    def data(self):
        with lock:
            state["busy"] -= 1
            if state["busy"] >= 0:
                return self.say("451 4.3.0 try later")
        self.say("354 go on")
        lines = []
        while True:
            line = self.file.readline()
            if line == b".\r\n":
                break
            lines.append(line[1:] if line.startswith(b".") else line)
        with lock, open(T + "/mails", "a") as f:
            f.write(json.dumps({"from": self.sender, "to": self.to, "auth": self.auth, "tls": self.tls,
                                "text": b"".join(lines).decode("latin-1")}) + "\n")
        self.say("250 taken")

    def handle(self):
        self.file, self.tls, self.auth = self.request.makefile("rb"), False, None
        self.sender, self.to = None, []
        if "--silent" in args:
            threading.Event().wait(30)
        try:
            if "--tls" in args:
                self.encrypt()
            self.say("220 test")
            while True:
                line = self.line()
                words = line.split(b" ")
                verb = words[0].upper()
                if verb in (b"EHLO", b"HELO"):
                    self.greet()
                elif verb == b"STARTTLS":
                    self.say("220 go on")
                    self.encrypt()
                elif verb == b"AUTH":
                    self.authenticate(words)
                elif verb == b"MAIL":
                    self.sender, self.to = line[10:].decode().split(" ")[0], []
                    self.say("530 5.7.0 log in first" if mechanism and not self.auth else "250 ok")
                elif verb == b"RCPT":
                    if b"nobody@" in line:
                        self.say("550 5.1.1 no such person")
                    else:
                        self.to.append(line[8:].decode())
                        self.say("250 ok")
                elif verb == b"DATA":
                    self.data()
                elif verb == b"QUIT":
                    return self.say("221 bye")
                else:
                    self.say("250 ok")
        except (EOFError, OSError):
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True


server = Server(("127.0.0.1", 0), Handler)
with open(T + "/port.new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(T + "/port.new", T + "/port")
server.serve_forever()
