"""hub.py - the hub beside its peers: a minimal durable HTTP server, Redis, beanstalkd, nginx.

    hub.py CLIQ BIN PART      prints rows for bench/run

The parts: emit claim get sse scale million subs. The script starts every peer on its own port of
127.0.0.1, with data in the working directory, and ends it by its pid. One load generator (BIN/load,
or BIN/sse for streams) measures all. The servers of a comparison take turns; each number is the
median of the rounds. The row of a peer that is not installed says so.

Environment: ROUNDS (5), ROUND_MS (1000), and KEEP=1, which keeps the store with a million signals in
BIN/million for the next run.
"""
import atexit, ctypes, http.client, json, os, resource, shutil, signal, socket, statistics, subprocess, sys, threading, time

cliq, bins = sys.argv[1:3]
ROUNDS = int(os.environ.get("ROUNDS", 5))
ROUND_MS = int(os.environ.get("ROUND_MS", 1000))
START_S = 300  # time limit of a server's start, which may include a rebuild of the index
CONNS = 64

# ---- rows ----


def row(work, ours, peer, value, reach, is_ok):
    print(f"row\t{work}\t{ours}\t{peer}\t{value}\t{reach}\t{'ok' if is_ok else 'MISS'}", flush=True)


def note(text):
    print(f"note\t{text}", flush=True)


def rate_text(rate):
    return f"{rate:.0f} /s" if rate < 1e5 else f"{rate / 1000:.0f} k/s"


def at_least(work, ours, peer, limit, show=rate_text):
    row(work, show(ours), show(peer), f"{ours / peer:.2f} x", f">= {limit:g} x", ours >= limit * peer)


def beside(work, rates, peer, limit):
    """Ours beside a peer that may not be installed."""
    if peer in rates:
        return at_least(work, rates["ours"], rates[peer], limit)
    print(f"row\t{work}\t{rate_text(rates['ours'])}\t-\t-\t>= {limit:g} x\tno {peer}: tools/deps bench", flush=True)


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
        limit = threading.Timer(START_S, self.p.kill)
        limit.start()
        for line in self.p.stdout:
            if line.startswith(b"listening on "):
                limit.cancel()
                return int(line.rsplit(b":", 1)[1])
        limit.cancel()
        self.give_up()

    def give_up(self):
        with open(self.log.name, errors="replace") as f:
            sys.exit(f"hub.py: {self.p.args[0]} did not start: {f.read()[-600:].strip()}")

    def wait(self):
        """Waits until the server accepts connections."""
        end = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.p.poll() is not None or time.monotonic() > end:
                    self.give_up()
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
    """Starts cliq serve on a store; a new store gets the role that all signals are sent to."""
    is_new = not os.path.exists(f"{store}/admin.key")
    s = Server(store, [cliq, "serve", "--config", store, "--listen", "127.0.0.1:0"], is_telling=True)
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
    """Sends one request to prepare a benchmark; returns the response's body."""
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=START_S)
    c.request("POST", path, body, {"Content-Type": "application/json", "Authorization": f"Bearer {key_of(server)}"})
    answer = c.getresponse()
    text = answer.read().decode()
    c.close()
    if answer.status >= 300:
        sys.exit(f"hub.py: {path}: {answer.status} {text}")
    return text


class Load:
    """The result of one run of the load generator: rate, p50 and p99 in microseconds, count."""

    def __init__(self, server, work, conns, key=None, **more):
        words = [f"work={work}", f"port={server.port}", f"conns={conns}"]
        words += [f"{k}={v}" for k, v in more.items()]
        if key or server.key:
            words.append(f"key={key or server.key}")
        run = subprocess.run([f"{bins}/load", *words], stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        if run.returncode:
            sys.exit(f"hub.py: load {' '.join(words)} failed")
        said = run.stdout.split()
        self.rate, self.p50, self.p99 = map(float, said[:3])
        self.count = int(said[3])


def in_turns(subjects, rounds=None):
    """The median of each subject's (a function's) values; the first round is a warm-up."""
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
    beside("emit, durable, 64 connections, beside bare C", r, "bare", 0.5)
    beside("  beside Redis XADD", r, "redis", 1)
    at_least("emit, durable, 1 connection, beside bare C", r["ours 1"], r["bare 1"], 0.8)


def scale():
    us = ours()
    r = in_turns({"1": emits(us, 1), "4": emits(us, 4)})
    at_least("emit, 4 connections beside 1", r["4"], r["1"], 2.5)


TASKS = 8000


def claims(server, fill, n, take):
    """Emits TASKS tasks, then claims and acks them: pairs per second."""
    def measure():
        Load(server, fill, 1 if fill == "batch" else CONNS, n=n)
        got = Load(server, take, CONNS, n=TASKS)
        if got.count != TASKS:
            sys.exit(f"hub.py: {take}: {got.count} of {TASKS} tasks were there")
        return got.rate
    return measure


def claim():
    us, red, bean = ours(), redis(), beanstalkd()
    subjects = {"ours": claims(us, "batch", TASKS // 1000, "claim")}
    if red:
        Load(red, "redis-group", 1, n=1)
        subjects["redis"] = claims(red, "redis-add", TASKS, "redis-claim")
    if bean:
        subjects["beanstalkd"] = claims(bean, "beanstalk-put", TASKS, "beanstalk-claim")
    r = in_turns(subjects)
    beside("claim next + ack, 64 connections, Redis", r, "redis", 1)
    beside("  beside beanstalkd reserve + delete", r, "beanstalkd", 3)


def get():
    us, peer = ours(), nginx()
    signal_id = json.loads(post(us, "/emit", '{"signal_type":"task","to_role":"worker"}'))["data"]["id"]
    subjects = {"ours": lambda: Load(us, "get", CONNS, ms=ROUND_MS, path=f"/signals/{signal_id}").rate}
    if peer:
        subjects["nginx"] = lambda: Load(peer, "get", CONNS, ms=ROUND_MS, path="/signal").rate
    beside("GET a signal, 64 connections, beside nginx", in_turns(subjects), "nginx", 0.6)


CLIENTS = 1000
CACHE_FULL = 60  # batches of 1,000 that fill the index's page cache


class Listeners:
    """BIN/sse: CLIENTS streams to one server."""

    def __init__(self, server, kind):
        words = [f"kind={kind}", f"port={server.port}", f"clients={CLIENTS}"]
        self.p = subprocess.Popen([f"{bins}/sse", *words, *([f"key={server.key}"] if server.key else [])], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self.hear()

    def hear(self):
        line = self.p.stdout.readline()
        if not line:
            sys.exit(f"hub.py: {' '.join(self.p.args)} failed")
        return line

    def ask(self, what):
        """Sends a command; returns the first number of the reply."""
        self.p.stdin.write(what + "\n")
        self.p.stdin.flush()
        return float(self.hear().split()[0])

    def end(self):
        self.p.stdin.close()
        self.p.wait()


def sse():
    us, peer, red = ours(), bare(), redis()
    Load(us, "batch", 2, n=CACHE_FULL)  # so that memory for emits is not counted as the clients'
    before_kb = us.rss_kb()
    at = {"ours": Listeners(us, "http"), "bare": Listeners(peer, "http")}
    idle_kb = (us.rss_kb() - before_kb) / CLIENTS
    if red:
        at["redis"] = Listeners(red, "redis")
    rate = in_turns({name: lambda l=l: l.ask(f"rate {ROUND_MS}") for name, l in at.items()})
    last = in_turns({name: lambda l=l: l.ask("last 100") for name, l in at.items()})
    each_kb = (us.rss_kb() - before_kb) / CLIENTS
    for l in at.values():
        l.end()
    beside("deliveries, 1,000 streams, 64 emits, Redis", rate, "redis", 1)
    note(f"bare C, which syncs as we do: {rate_text(rate['bare'])}; Redis does not write these to disk")
    row("  server's memory a stream", f"{each_kb:.1f} KB", "-", "-", "<= 8 KB", each_kb <= 8)
    note(f"right after they connected: {idle_kb:.1f} KB")
    row("1,000 streams, one emit to the last client", f"{last['ours'] / 1000:.2f} ms", f"{last['bare'] / 1000:.2f} ms",
        f"{last['bare'] / last['ours']:.2f} x", ">= 0.6 x", last["bare"] >= 0.6 * last["ours"])


MILLION = 1000000


def fill(store, signals):
    """Makes a store with that many signals; returns the seconds."""
    start, us = time.monotonic(), ours(store)
    for done in range(0, signals, 20000):  # the load generator has a time limit
        Load(us, "batch", 2, n=min(20000, signals - done) // 1000)
    us.end()
    return time.monotonic() - start


def start_ms(store, is_ready="/signals/list?limit=1"):
    """Milliseconds from the start of the process to the first response that needs the store."""
    begun = time.monotonic()
    us = ours(store)
    Load(us, "get", 1, n=1, path=is_ready)
    return us, (time.monotonic() - begun) * 1000


def restart(how):
    """Ends the server after a burst of emits and starts it again."""
    us = ours("many")
    Load(us, "emit", CONNS, n=2000)
    us.end(how)
    us, took = start_ms("many")
    us.end()
    return took


def rebuild():
    for name in os.listdir("many/signals"):
        if name.startswith("index.db"):
            os.unlink(f"many/signals/{name}")
    us, took = start_ms("many")
    us.end()
    return MILLION / took * 1000


def emit_into_few():
    """Emits into a store with 1,000 signals at the start of each round."""
    shutil.rmtree("now", ignore_errors=True)
    shutil.copytree("few", "now")
    us = ours("now")
    Load(us, "emit", CONNS, n=200)  # warm-up: the server of the million is warm too
    rate = emits(us)()
    us.end()
    return rate


def make_many():
    """Makes the store with a million signals, or copies it from an earlier run."""
    kept = f"{bins}/million"
    if os.environ.get("KEEP") and os.path.isdir(kept):
        shutil.copytree(kept, "many")
        return note("the million is that of an earlier run")
    note(f"the million was made in {fill('many', MILLION):.0f} s, by emit/batch")
    if os.environ.get("KEEP"):
        shutil.copytree("many", "kept")
        os.rename("kept", kept)  # atomic


def million():
    make_many()
    fill("few", 1000)
    rounds = min(ROUNDS, 3)
    killed = statistics.median(restart(signal.SIGKILL) for _ in range(rounds))
    asked = statistics.median(restart(signal.SIGTERM) for _ in range(rounds))
    row("restart with 1,000,000 signals, after a kill", f"{killed:.0f} ms", "-", "-", "<= 500 ms", killed <= 500)
    note(f"after SIGTERM: {asked:.0f} ms")
    rate = statistics.median(rebuild() for _ in range(rounds))
    row("start without an index, 1,000,000 signals", rate_text(rate), "-", "-", ">= 200 k/s", rate >= 200e3)
    many, few = ours("many"), ours("few")
    page = {"path": "/inbox/worker?limit=20", "ms": ROUND_MS}
    p99 = in_turns({"many": lambda: Load(many, "get", 1, **page).p99, "few": lambda: Load(few, "get", 1, **page).p99})
    few.end()
    row("inbox page, p99, 1,000,000 beside 1,000", f"{p99['many'] / 1000:.2f} ms", f"{p99['few'] / 1000:.2f} ms",
        f"{p99['many'] / p99['few']:.2f} x", "<= 2 x", p99["many"] <= 2 * p99["few"])
    r = in_turns({"many": emits(many), "few": emit_into_few})
    at_least("emit with 1,000,000 signals beside 1,000", r["many"], r["few"], 0.8)


def subscribed(n):
    """A server where another identity has n subscriptions; one of them matches the broadcasts."""
    us = ours(f"subs{n}")
    made = json.loads(post(us, "/keys", '{"identity":"listener"}'))["data"]["key"]
    key = f"subs{n}/listener.key"
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        f.write(made + "\n")
    Load(us, "subscribe", CONNS, key=key, n=n)
    return us


def subs():
    few, many = subscribed(10), subscribed(10000)
    r = in_turns({"few": emits(few, work="broadcast"), "many": emits(many, work="broadcast")})
    few_us, many_us = 1e6 / r["few"], 1e6 / r["many"]
    more = many_us - few_us
    row("10,000 subscriptions beside 10, a broadcast", f"{many_us:.0f} us", f"{few_us:.0f} us", f"{more:+.0f} us",
        "<= 50 us", more <= 50)


# 1,000 streams need open files, and Redis reserves some for itself.
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
PARTS = {"emit": emit, "claim": claim, "get": get, "sse": sse, "scale": scale, "million": million, "subs": subs}
PARTS[sys.argv[3]]()
