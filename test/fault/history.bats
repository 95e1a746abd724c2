#!/usr/bin/env bats
# A run that is killed while it keeps the run before it: nothing of that one is lost, and no half of
# it is taken for a run (history.py).
load ../scenario/pipeline

export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under strace

@test "kill -9 at any step of keeping a run loses nothing of it" {
    command -v strace >/dev/null || skip "no strace here"
    strace -qq -o /dev/null true 2>/dev/null || skip "processes may not be traced here"
    agent a <<'END'
ok
[ "$P" = two ] || hand two '{"data":{"n":1}}'
echo "log of $P"
complete
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    run_ok
    cd "$T" || return
    local n
    n=$($PY "$BATS_TEST_DIRNAME/history.py" "$CLIQ" "$T/proj")
    [ "$n" -ge 25 ] || complain "only $n calls were killed"
}
