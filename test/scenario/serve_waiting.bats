#!/usr/bin/env bats
# Claims that wait, some of them at once; what ends the waiting of one is in serve.bats.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

tell() {
    SERVER=$SERVER timeout 60 "$PY" "$ROOT/test/scenario/claims.py" "$PORT" "$KEY"
}

@test "of more claims that wait than a round holds, each is tried, whichever came first" {
    tell <<'END'
MANY = 850  # a round holds 768
first = claim("dev", 30)
waiting(1)
many = crowd(MANY, already=1)
last = claim("dev", 30)
waiting(MANY + 2)
emit("dev", "for the first")
assert answer(first)["content"] == "for the first"
emit("dev", "for the last")
assert answer(last)["content"] == "for the last"
for i in range(MANY):
    emit("ops", str(i))
assert sorted(int(answer(s)["content"]) for s in many) == list(range(MANY))
waiting(0)
END
}

@test "however many claims are tried, there is room for who asks meanwhile" {
    tell <<'END'
MANY = 850
many = crowd(MANY)
for _ in range(20):
    for s in [ask("POST", "/emit", {"signal_type": "task", "to_role": "dev"}) for i in range(40)]:
        answer(s)  # 200, or it fails
waiting(MANY)
END
}

@test "who has waited longest gets the task" {
    tell <<'END'
clients = []
for i in range(5):
    clients.append(claim("dev", 30))
    waiting(i + 1)
for i in range(5):
    for _ in range(i):
        emit("ops")  # nothing for them: they are tried, and wait on in their order
        waiting(5 - i)
    emit("dev", str(i))
    assert answer(clients[i])["content"] == str(i)
END
}

@test "a claim that waits gives up at its own time, not at another's" {
    tell <<'END'
begun = time.monotonic()
long, short, longest = claim("dev", 3), claim("dev", 1), claim("dev", 30)
assert answer(short) is None
assert time.monotonic() - begun > 0.99  # the clock has milliseconds
waiting(2)
emit("ops")  # the others are tried meanwhile
assert answer(long) is None
assert time.monotonic() - begun > 2.99
waiting(1)
emit("dev", "late")
assert answer(longest)["content"] == "late"
END
}

@test "who goes away while its claim waits takes no task along" {
    tell <<'END'
for i in range(20):
    gone, here = claim("dev", 30), claim("dev", 30)
    waiting(2)
    gone.close()
    waiting(1)
    emit("dev", str(i))
    assert answer(here)["content"] == str(i)
END
}

@test "tasks of clients that went away before their answer are given back, however many came at once" {
    tell <<'END'
import os, signal, struct
server = int(os.environ["SERVER"])
MANY = 500  # nearly as many as connect to a server that is stopped
for i in range(MANY):
    answer(ask("POST", "/emit", {"signal_type": "task", "content": str(i), "to_role": "ops"}))
os.kill(server, signal.SIGSTOP)
for _ in range(MANY):
    s = ask("POST", "/claim", {"role": "ops"})
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
os.kill(server, signal.SIGCONT)
again = [answer(ask("POST", "/claim", {"role": "ops", "wait_seconds": 20})) for _ in range(MANY)]
assert sorted(int(t["content"]) for t in again) == list(range(MANY))
END
}

@test "more requests at once than a round holds are all answered" {
    tell <<'END'
import os, signal
server = int(os.environ["SERVER"])
all = [connect() for _ in range(900)]
answer(ask("POST", "/emit", {"signal_type": "note"}, all.pop()))  # now they are taken
os.kill(server, signal.SIGSTOP)
for i, s in enumerate(all):
    ask("POST", "/emit", {"signal_type": "note", "content": str(i)}, s)
os.kill(server, signal.SIGCONT)
assert sorted(int(answer(s)["content"]) for s in all) == list(range(899))
END
}
