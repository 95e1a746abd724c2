"""service - the frame of the services that the tests of connectors speak to.

    class Jira(Service):
        def do(self, r): return 200, {"key": "PROJ-1"}
    serve(Jira)

serve listens on 127.0.0.1, writes its port to $T/port, and each request as a line of JSON to
$T/requests. do gets the request (method, path, query, headers, body) and returns the status, the
body (bytes, a text, or a value that becomes JSON) and maybe headers. Raising Refused answers like
an error of the service. $T/faults, when it is there, holds lines "STATUS [RETRY-AFTER]": each is
the answer to one request.
"""
import base64, hashlib, http.server, json, os, sys, threading, urllib.parse

T = os.environ["T"]
lock = threading.Lock()


class Refused(Exception):
    def __init__(self, status, body=b"", **headers):
        self.answer = (status, body, {k.replace("_", "-"): v for k, v in headers.items()})


class Request:
    pass


def fault():
    """The next prepared fault, or None."""
    try:
        lines = open(T + "/faults").read().splitlines()
    except FileNotFoundError:
        return None
    if not lines:
        return None
    open(T + "/faults", "w").write("\n".join(lines[1:]))
    status, *after = lines[0].split()
    return int(status), {"message": "prepared fault"}, ({"Retry-After": after[0]} if after else {})


def need_basic(r, user, password):
    want = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    if r.headers.get("authorization") != want:
        raise Refused(401, {"message": "Client must be authenticated"})


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def read_body(self):
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            body = b""
            while n := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(n)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def stall(self, r):
        """May keep the request waiting; the others go on."""

    def handle_one(self):
        r = Request()
        r.method = self.command
        r.raw = self.path
        r.raw_path, _, r.raw_query = self.path.partition("?")
        r.path = urllib.parse.unquote(r.raw_path)
        r.query = dict(urllib.parse.parse_qsl(r.raw_query, keep_blank_values=True))
        r.headers = {k.lower(): v for k, v in self.headers.items()}
        r.body = self.read_body()
        with lock:
            with open(T + "/requests", "a") as f:
                f.write(json.dumps({"method": r.method, "path": r.raw, "headers": r.headers,
                                    "body": r.body[:65536].decode("latin-1"), "size": len(r.body)}) + "\n")
        self.stall(r)
        with lock:
            try:
                answer = fault() or self.do(r)
            except Refused as e:
                answer = e.answer
            except Exception as e:
                import traceback
                answer = 500, {"message": traceback.format_exc()}
        self.say(*answer)

    def say(self, status, body=b"", headers={}):
        kind = "text/plain"
        if isinstance(body, (dict, list)):
            body, kind = json.dumps(body), "application/json"
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
        for k, v in headers.items():
            self.send_header(k, v)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = handle_one


def serve(kind):
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    s.daemon_threads = True
    kind.url = "http://127.0.0.1:%d" % s.server_address[1]
    open(T + "/port.new", "w").write(str(s.server_address[1]))
    os.rename(T + "/port.new", T + "/port")
    s.serve_forever()
