"""kill_installs.py CLIQ COUNT SEED: kills `cliq team install --force` at random moments.

Two packages of one team, of 200 files each, are installed in turns. After each kill the installed team is
one of them, whole; then an install that is not killed works and leaves nothing behind.
"""
import os
import random
import signal
import subprocess
import sys
import time

cliq, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rnd = random.Random(seed)
teams = os.path.join(os.environ["CLIQ_HOME"], "teams")
target = os.path.join(teams, "@acme/review")


def make(version):
    subprocess.run([cliq, "team", "new", "@acme/review", "--dir", version], check=True, capture_output=True)
    path = f"{version}/team.yml"
    text = open(path).read().replace("version: 0.1.0", f"version: {version}")
    open(path, "w").write(text)
    os.makedirs(f"{version}/agents/x")
    for i in range(200):
        open(f"{version}/agents/x/{i}", "w").write(version)
    subprocess.run([cliq, "team", "pack", version, "-o", f"{version}.tgz"], check=True, capture_output=True)


def installed():
    if not os.path.exists(target):
        return None
    version = open(f"{target}/agents/x/0").read()
    texts = {open(f"{target}/agents/x/{i}").read() for i in range(200)}
    assert texts == {version}, texts
    assert f"version: {version}\n" in open(f"{target}/team.yml").read()
    assert f'"version":"{version}"' in open(f"{target}/.source.json").read()
    return version


def start(version):
    return subprocess.Popen([cliq, "team", "install", "--force", f"{version}.tgz"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


for v in ("1.0.0", "2.0.0"):
    make(v)
latest, killed, old, new = 0.02, 0, 0, 0
before = installed()
while killed < count:
    version = rnd.choice(("1.0.0", "2.0.0"))
    p = start(version)
    time.sleep(rnd.random() * latest)
    p.send_signal(signal.SIGKILL)
    _, err = p.communicate()
    assert p.returncode in (0, -signal.SIGKILL), err
    after = installed()
    assert after in (before, version), (before, version, after)
    if p.returncode == 0:
        latest *= 0.9
        assert after == version
    else:
        latest *= 1.05
        killed += 1
        old += after == before
        new += after == version != before
    before = after
p = start("1.0.0")
_, err = p.communicate()
assert p.returncode == 0, err
assert installed() == "1.0.0"
assert sorted(os.listdir(teams)) == [".lock", "@acme"], os.listdir(teams)
print(f"{killed} killed, whole each time")
