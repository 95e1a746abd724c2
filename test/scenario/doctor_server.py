"""doctor_server DIR: a model's API that knows one key, sk-right; below /slow it never answers. DIR/port when it listens."""
import http.server
import os
import sys
import threading


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/slow"):
            threading.Event().wait()
        good = self.headers.get("Authorization") == "Bearer sk-right"
        body = b'{"data":[{"id":"model-a"}]}' if good else b'{"error":{"message":"bad key"}}'
        self.send_response(200 if good else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
server.daemon_threads = True
with open(sys.argv[1] + "/port.new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
server.serve_forever()
