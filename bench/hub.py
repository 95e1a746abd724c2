"""The hub beside its peers: a durable log behind HTTP, Redis, beanstalkd, nginx.

    hub.py CLIQ BIN PART...      prints rows for bench/run

The parts: emit claim get sse scale million subs. Every peer is started here, on a port of its own on
127.0.0.1, with its data in the working directory, and ended here by its id. One loader (BIN/load, or
BIN/sse for streams) speaks to all of them. Those that are compared take turns, and each number is
the median of the rounds. A peer that is not installed is told in its row.

ROUNDS (5) and ROUND_MS (1000) can be set in the environment, for a fast look.
"""
import atexit, ctypes, os, shutil, signal, socket, statistics, subprocess, sys, time

cliq, bins = sys.argv[1:3]
ROUNDS = int(os.environ.get("ROUNDS", 5))
ROUND_MS = int(os.environ.get("ROUND_MS", 1000))
START_S = 60  # a server that is not there by then never will be
CONNS = 64

# ---- rows ----


def row(work, ours, peer, value, reach, is_ok):
    print(f"row\t{work}\t{ours}\t{peer}\t{value}\t{reach}\t{'ok' if is_ok else 'MISS'}", flush=True)


def missing(work, peer, reach):
    print(f"row\t{work}\t-\t-\t-\t{reach}\tno {peer}: tools/deps bench", flush=True)


def note(text):
    print(f"note\t{text}", flush=True)


def rate_text(rate):
    return f"{rate:.0f} /s" if rate < 1e5 else f"{rate / 1000:.0f} k/s"


def at_least(work, ours, peer, limit, show=rate_text):
    row(work, show(ours), show(peer), f"{ours / peer:.2f} x", f">= {limit:g} x", ours >= limit * peer)


# ---- servers ----

running = []


def end_all():
    while running:
        running[-1].end()


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Server:
    """A process that serves on self.port until end()."""

    def __init__(self, name, argv, port=None, is_telling=False):
        self.key = None
        self.log = open(f"{name}.said", "wb")
        self.p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=self.log,
                                  stdout=subprocess.PIPE if is_telling else self.log,
                                  preexec_fn=die_with_parent)
        running.append(self)
        self.port = self.told_port() if is_telling else port
        if not is_telling:
            self.wait()

    def told_port(self):
        for line in self.p.stdout:
            if line.startswith(b"listening on "):
                return int(line.rsplit(b":", 1)[1])
        sys.exit(f"hub.py: {self.p.args[0]} did not start; see {self.log.name}")

    def wait(self):
        """Until it takes connections: the peers do not tell."""
        end = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.p.poll() is not None or time.monotonic() > end:
                    sys.exit(f"hub.py: {self.p.args[0]} did not start; see {self.log.name}")
                time.sleep(0.005)

    def rss_kb(self):
        with open(f"/proc/{self.p.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))

    def end(self, how=signal.SIGTERM):
        running.remove(self)
        self.p.send_signal(how)
        try:
            self.p.wait(20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
        self.log.close()


atexit.register(end_all)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ours(store="ours"):
    """cliq serve on a store; a new one gets the role that everything is sent to."""
    is_new = not os.path.exists(f"{store}/admin.key")
    s = Server("ours", [cliq, "serve", "--config", store, "--listen", "127.0.0.1:0"], is_telling=True)
    s.key = f"{store}/admin.key"
    if is_new:
        post(s, "/roles", '{"id":"worker","name":"worker"}')
        post(s, "/fills", '{"identity":"admin","role":"worker"}')
    return s


def bare():
    return Server("bare", [f"{bins}/bare_http", "bare.jsonl"], is_telling=True)


def redis():
    if not shutil.which("redis-server"):
        return None
    os.makedirs("redis", exist_ok=True)
    port = free_port()
    return Server("redis", ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", "redis",
                            "--save", "", "--appendonly", "yes", "--appendfsync", "always",
                            "--auto-aof-rewrite-percentage", "0",  # none in a round
                            "--client-output-buffer-limit", "pubsub 0 0 0"], port)


def beanstalkd():
    if not shutil.which("beanstalkd"):
        return None
    os.makedirs("beanstalkd", exist_ok=True)
    port = free_port()
    return Server("beanstalkd", ["beanstalkd", "-l", "127.0.0.1", "-p", str(port), "-b", "beanstalkd", "-f0"], port)


NGINX = """daemon off; master_process off; worker_processes 1; pid {dir}/pid; error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000000; default_type application/json;
    client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
    server {{ listen 127.0.0.1:{port}; root {dir}; }}
}}
"""


def nginx():
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if not program:
        return None
    directory = os.path.abspath("nginx")
    os.makedirs(directory, exist_ok=True)
    port = free_port()
    with open("nginx/conf", "w") as f:
        f.write(NGINX.format(dir=directory, port=port))
    with open("nginx/signal", "w") as f:
        f.write("x" * 300)
    return Server("nginx", [program, "-e", "stderr", "-p", directory, "-c", f"{directory}/conf"], port)


# ---- load ----


def key_of(server):
    with open(server.key) as f:
        return f.readline().strip()


def post(server, path, body):
    """One request, for what a benchmark needs beforehand: the answer's body."""
    import http.client
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=START_S)
    c.request("POST", path, body, {"Content-Type": "application/json", "Authorization": f"Bearer {key_of(server)}"})
    answer = c.getresponse()
    text = answer.read().decode()
    c.close()
    if answer.status >= 300:
        sys.exit(f"hub.py: {path}: {answer.status} {text}")
    return text


class Load:
    """What one run of the loader tells: rate, p50 and p99 in microseconds, count."""

    def __init__(self, server, work, conns, key=None, **more):
        words = [f"work={work}", f"port={server.port}", f"conns={conns}"]
        words += [f"{k}={v}" for k, v in more.items()]
        if key or server.key:
            words.append(f"key={key or server.key}")
        said = subprocess.run([f"{bins}/load", *words], stdout=subprocess.PIPE, check=True).stdout.split()
        self.rate, self.p50, self.p99 = map(float, said[:3])
        self.count = int(said[3])


def in_turns(subjects, rounds=None):
    """The median of what each subject (a function) gives; a first round is for warming up."""
    got = {name: [] for name in subjects}
    for i in range((rounds or ROUNDS) + 1):
        for name, measure in subjects.items():
            value = measure()
            if i > 0:
                got[name].append(value)
    return {name: statistics.median(values) for name, values in got.items()}


def emits(server, conns=CONNS, work="emit"):
    return lambda: Load(server, work, conns, ms=ROUND_MS).rate


# ---- the parts ----


def emit():
    us, peer, red = ours(), bare(), redis()
    subjects = {"ours": emits(us), "bare": emits(peer), "ours 1": emits(us, 1), "bare 1": emits(peer, 1)}
    if red:
        subjects["redis"] = emits(red, work="redis-add")
    r = in_turns(subjects)
    at_least("emit, durable, 64 connections, beside bare C", r["ours"], r["bare"], 0.5)
    if red:
        at_least("  beside Redis XADD", r["ours"], r["redis"], 1)
    else:
        missing("  beside Redis XADD", "redis-server", ">= 1 x")
    at_least("emit, durable, 1 connection, beside bare C", r["ours 1"], r["bare 1"], 0.8)


def scale():
    us = ours()
    r = in_turns({"1": emits(us, 1), "4": emits(us, 4)})
    at_least("emit, 4 connections beside 1", r["4"], r["1"], 2.5)


PARTS = {"emit": emit, "scale": scale}
for part in sys.argv[3:] or PARTS:
    os.mkdir(part)
    os.chdir(part)
    PARTS[part]()
    end_all()
    os.chdir("..")
    shutil.rmtree(part)
