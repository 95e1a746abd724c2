#!/usr/bin/env bats
# Installs killed with SIGKILL: the old team or the new one, never half of one.
load ../lib/cli

@test "40 installs killed at random moments: the team is the old or the new one, and nothing is left behind" {
    local seed=$RANDOM
    echo "seed $seed" # bats shows it when the test fails
    is "40 killed, whole each time" "$($PY "$BATS_TEST_DIRNAME/kill_installs.py" "$CLIQ" 40 $seed)"
}

@test "readers and installs at the same time: a reader sees one version" {
    "$CLIQ" team new @acme/review --dir a >/dev/null
    cp -r a b
    sed -i 's/^version:.*/version: 2.0.0/' b/team.yml
    "$CLIQ" team install ./a >/dev/null
    start installs sh -c 'for i in 1 2 3 4 5; do "$0" team install --force ./b && "$0" team install --force ./a || exit 1; done' "$CLIQ"
    while ! gone "$PID"; do
        got team info @acme/review --json
        succeeds
        has "$out" '"valid":true'
    done
    ended installs "$PID"
    code_is 0
}
