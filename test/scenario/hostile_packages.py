"""hostile_packages.py CLIQ DIR COUNT SEED: packages that attack whoever installs them.

Makes COUNT packages with tarfile, each a good team with one attack, in two formats of tar and with
the attack before or behind the team's own files. Installs each one with `cliq team install`, and half of them with
`cliq assemble`, too. Each must be refused, with an exit code that says so, and nothing outside
<config>/teams may be new or different; nothing of it may be installed or run.
"""
import io
import os
import random
import subprocess
import sys
import tarfile
import zlib

cliq, base, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rnd = random.Random(seed)
outside = os.path.join(base, "outside")
work = os.path.join(base, "packages")
config = os.environ["CLIQ_HOME"]
TEAM = f"""name: "@evil/team"
description: d
version: 1.0.0
phases:
  - name: a
    agent: script
    commands: [{{ name: x, run: "touch {outside}/executed" }}]
""".encode()
REFUSED = (1, 2, 7)


def entry(name, kind=tarfile.REGTYPE, text=b"x", link="", mode=0o644, **more):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    info.size = len(text) if kind == tarfile.REGTYPE else 0
    for k, v in more.items():
        setattr(info, k, v)
    return info, text if info.size else None


def link(name, to):
    return entry(name, tarfile.SYMTYPE, link=to)


def letters(n):
    return "".join(rnd.choice("abcdefghij") for _ in range(n))


up = "../" * rnd.randint(1, 12)
ATTACKS = {
    "dot dot": lambda: [entry("../" * rnd.randint(1, 14) + f"{outside[1:]}/new")],
    "dot dot inside": lambda: [entry(f"agents/{letters(3)}/../../../{letters(4)}")],
    "dot dot last": lambda: [entry("roles/..", tarfile.DIRTYPE)],
    "absolute": lambda: [entry(f"{outside}/new")],
    "absolute many": lambda: [entry("//" * rnd.randint(1, 4) + f"{outside[1:]}/new")],
    "link out": lambda: [link("agents/x", outside)],
    "link up": lambda: [link("agents/x", "../" * rnd.randint(1, 9) + "outside")],
    "link in a circle": lambda: [link("agents/x", "y"), link("agents/y", "x")],
    "link then file through": lambda: [link("agents/x", outside), entry("agents/x/new")],
    "inner link then file through": lambda: [link("agents/x", "."), link("agents/x/y", "../.."), entry("agents/x/y/new")],
    "chain of links": lambda: [link("agents/a", "b/.."), link("agents/b", "../.."), entry("agents/a/new")],
    "link for agents": lambda: [link("agents", outside), entry("agents/new")],
    "link for roles": lambda: [link("roles", outside)],
    "link for a role": lambda: [link("roles/a.md", f"{outside}/secret")],
    "link for the readme": lambda: [link("README.md", f"{outside}/secret")],
    "link out of a team in it": lambda: [entry("teams/x/team.yml", text=TEAM), link("teams/x/agents/x", outside)],
    "link up of a team in it": lambda: [link("teams/x/agents/x", "../" * rnd.randint(2, 9) + "outside")],
    "link to the team above": lambda: [entry("teams/x/teams/y/team.yml", text=TEAM), link("teams/x/teams/y/agents/x", "../../../../../team.yml")],
    "link for teams": lambda: [link(rnd.choice(["teams", "teams/x"]), outside)],
    "link for a team's file": lambda: [link("teams/x/team.yml", f"{outside}/secret")],
    "dot dot in teams": lambda: [entry("teams/x/../../../" + letters(4))],
    "hard link out": lambda: [entry("agents/x", tarfile.LNKTYPE, link=f"{outside}/secret")],
    "hard link in": lambda: [entry("agents/x", tarfile.LNKTYPE, link="team.yml")],
    "hard link then write": lambda: [entry("roles/a.md", tarfile.LNKTYPE, link=f"{outside}/secret"), entry("roles/a.md", text=b"new")],
    "device": lambda: [entry("agents/x", rnd.choice([tarfile.CHRTYPE, tarfile.BLKTYPE]), devmajor=1, devminor=5)],
    "fifo": lambda: [entry(rnd.choice(["agents/x", "roles/x.md", "pipe"]), tarfile.FIFOTYPE)],
    "setuid": lambda: [entry("agents/x", mode=rnd.choice([0o4755, 0o2755, 0o6755, 0o1755]))],
    "case of a file": lambda: [entry("agents/Run.js"), entry("agents/run.js")],
    "case of the team": lambda: [entry(rnd.choice(["TEAM.YML", "Team.yml", "team.YML"]))],
    "case of a directory": lambda: [entry("agents/a/x"), entry("AGENTS/b/x")],
    "twice": lambda: [entry("team.yml", text=TEAM)],
    "file as a directory": lambda: [entry("agents/x"), entry("agents/x/y")],
    "directory as a file": lambda: [entry("agents/x/y"), entry("agents/x")],
    "other letters": lambda: [entry("agents/" + rnd.choice(["caf\u00e9", "cafe\u0301", "\u212a", "\u202etxt.exe", "\ud55c"]))],
    "control bytes": lambda: [entry("agents/" + rnd.choice(["a\nb", "\x1b[2J", "a\rb", "\x7f", "a\tb"]))],
    "backslash": lambda: [entry("agents\\..\\..\\new")],
    "too long a name": lambda: [entry("agents/" + letters(256 + rnd.randint(0, 4000)))],
    "too long a path": lambda: [entry("agents/" + "/".join(letters(200) for _ in range(8)))],
    "too deep": lambda: [entry("agents/" + "a/" * rnd.randint(33, 300) + "x")],
    "too many": lambda: [entry(f"agents/{i}", text=b"") for i in range(10001)],
    "bomb": lambda: [entry("agents/zeros", text=bytes(51 << 20))],
    "bomb of many": lambda: [entry(f"agents/{i}", text=bytes(6 << 20)) for i in range(9)],
    "its own source": lambda: [entry(".source.json", text=b'{"v":1,"from":"hub://@evil/x"}')],
    "larger than it says": lambda: "size",
    "sparse": lambda: "sparse",
    "nul in a pax name": lambda: [entry("agents/x", pax_headers={"path": "../../x\0y"})],
    "pax name out": lambda: [entry("agents/x", pax_headers={"path": f"{outside}/new"})],
    "pax link out": lambda: [entry("agents/x", tarfile.SYMTYPE, link="y", pax_headers={"linkpath": outside})],
    "pax size": lambda: [entry("agents/x", pax_headers={"size": str(1 << 62)})],
    "gzip bomb": lambda: "gzip",
    "cut": lambda: "cut",
    "not gzip": lambda: "raw",
    "larger packed": lambda: [entry("agents/noise", text=rnd.randbytes(11 << 20))],
}
SLOW = ("bomb", "bomb of many", "gzip bomb", "larger packed", "too many", "sparse")


def sparse(name, size):
    """A file of the old GNU format whose only data is at its end: `size` bytes from 512."""
    info = tarfile.TarInfo(name)
    info.size = 512
    head = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    head[156:157] = b"S"
    head[386:410] = b"%011o\0%011o\0" % (size - 512, 512)
    head[483:495] = b"%011o\0" % size
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + b"x" * 512


def pack(attack, late):
    out = io.BytesIO()
    entries = attack if isinstance(attack, list) else []
    is_pax = any(info.pax_headers for info, _ in entries) or rnd.random() < 0.5
    form = tarfile.PAX_FORMAT if is_pax else tarfile.GNU_FORMAT
    own = [entry("team.yml", text=TEAM), entry("agents/ok.sh", text=b"#!/bin/sh\n", mode=0o755)]
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for info, text in own + entries if late else entries + own:
            tar.addfile(info, io.BytesIO(text) if text is not None else None)
        end = tar.offset
    data = out.getvalue()
    if attack == "sparse":
        data = data[:end] + sparse("agents/x", 8 << 30) + bytes(1024)
    if attack == "size":
        info = tarfile.TarInfo("agents/x")
        info.size = rnd.choice([1 << 20, 1 << 33])
        data = data[:end] + info.tobuf(tarfile.GNU_FORMAT) + b"x"
    if attack == "raw":
        return rnd.choice([b"", b"PK\3\4" + rnd.randbytes(90), rnd.randbytes(4000), b"\x1f\x8b\x08"])
    if attack == "gzip":
        data = data[:end] + entry("agents/zeros", text=b"")[0].tobuf() + bytes(100 << 20)
        data = sparse("agents/x", 1 << 40) + data
    z = zlib.compressobj(rnd.choice([1, 9]), zlib.DEFLATED, 31)
    packed = z.compress(data) + z.flush()
    if attack == "cut":
        packed = packed[: rnd.randint(20, len(packed) - 30)]
    return packed


def snapshot():
    seen = {}
    for top in (outside, os.path.join(base, "project"), config):
        for where, dirs, files in os.walk(top):
            if os.path.relpath(where, config).startswith("teams"):
                dirs[:] = [d for d in dirs if d != "@evil" or seen.setdefault("installed", True)]
            for f in files + dirs:
                path = os.path.join(where, f)
                st = os.lstat(path)
                text = open(path, "rb").read() if os.path.isfile(path) else os.path.islink(path) and os.readlink(path)
                seen[path] = (st.st_mode, text)
    return seen


os.makedirs(outside, exist_ok=True)
os.makedirs(os.path.join(base, "project"), exist_ok=True)
os.makedirs(work, exist_ok=True)
open(f"{outside}/secret", "w").write("secret")
good = os.path.join(work, "good.tgz")
open(good, "wb").write(pack([], True))
done = subprocess.run([cliq, "team", "install", good], capture_output=True, text=True)
assert done.returncode == 0, done.stderr  # without an attack it is a package
subprocess.run([cliq, "team", "remove", "@evil/team"], check=True, capture_output=True)
before = snapshot()
names = list(ATTACKS)
fast = [n for n in names if n not in SLOW]
for n in range(count):
    name = names[n] if n < len(names) else rnd.choice(fast)
    path = os.path.join(work, "p.tgz")
    with open(path, "wb") as f:
        f.write(pack(ATTACKS[name](), rnd.random() < 0.5))
    runs = [[cliq, "team", "install", path]]
    if n % 2 and name != "its own source":  # assemble ignores that file
        runs.append([cliq, "assemble", "--trust", path])
    for argv in runs:
        done = subprocess.run(argv, cwd=os.path.join(base, "project"), capture_output=True, text=True, timeout=60)
        assert done.returncode in REFUSED, f"{n} {name}: exit code {done.returncode} of {argv[1:]}: {done.stdout}{done.stderr}"
        assert done.stderr.startswith(("cliq: ", "team.yml:")) and "\x1b" not in done.stderr, f"{n} {name}: {done.stderr!r}"
        after = snapshot()
        changed = {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}
        assert not changed, f"{n} {name}: changed {changed}"
print(f"{count} refused")
