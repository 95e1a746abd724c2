"""server - a `cliq serve` of our own: begun, killed, begun again on the same port.

Ends only what it started. What the server says goes to DIR/serve.out and serve.err, its access log
to DIR/access.log, so that they can be searched for keys later. A prefix (a tracer) must become the
server, or be nobody's parent of it: what is killed is what was started.
"""
import os, re, signal, subprocess, time

READY_WITHIN_S = 20


class Server:
    def __init__(self, cliq, config, directory, prefix=()):
        self.cliq, self.config, self.dir, self.prefix = cliq, config, directory, prefix
        self.process, self.port, self.url, self.slowest_s = None, 0, None, 0.0

    def begin(self):
        """Until it listens."""
        start = time.monotonic()
        out = open(os.path.join(self.dir, "serve.out"), "ab")
        err = open(os.path.join(self.dir, "serve.err"), "ab")
        args = [*self.prefix, self.cliq, "serve", "--listen", f"127.0.0.1:{self.port}", "--config", self.config, "--access-log", os.path.join(self.dir, "access.log")]
        reader, writer = os.pipe()
        self.process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=writer, stderr=err)
        os.close(writer)
        said = b""
        while not re.search(rb"^listening on http://\S+\n", said, re.M):
            data = os.read(reader, 4096)  # its end when the server ends
            out.write(data)
            said += data
            assert data, f"the server ended with {self.process.wait()}: {open(err.name).read()[-500:]}"
        os.close(reader)
        out.close()
        err.close()
        self.url = re.search(rb"http://\S+", said).group().decode()
        self.port = int(self.url.rsplit(":", 1)[1])
        self.slowest_s = max(self.slowest_s, time.monotonic() - start)
        assert time.monotonic() - start < READY_WITHIN_S, "the server was not ready in time"
        return self

    def key(self):
        return open(os.path.join(self.config, "admin.key")).read().strip()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL, f"it had ended by itself, with {self.process.returncode}"

    def end(self):
        """As a service manager does: asked to, and everything that was begun is answered."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(timeout=READY_WITHIN_S) == 0, f"ended with {self.process.returncode}"

    def status(self, field):
        """A number of /proc/PID/status, such as VmRSS (kB)."""
        text = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(rf"^{field}:\s*(\d+)", text, re.M).group(1))

    def cpu_s(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self.begin()

    def __exit__(self, *why):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
