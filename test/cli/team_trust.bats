#!/usr/bin/env bats
# team trust: a project's programs are trusted; what has none is refused.
load ../lib/cli


@test "a project is trusted by its directory or its state directory" {
    got team new t
    mkdir p
    (cd p && "$CLIQ" init && "$CLIQ" assemble ../t && "$CLIQ" req -m go) >/dev/null
    local dir
    for dir in p p/.cliq "$PWD/p" ./p/../p; do
        echo "# changed for $dir" >>p/.cliq/workflow.yml
        got team trust $dir
        succeeds
        has "$out" "Trusted $PWD/p/.cliq ("
        (cd p && got run --dry-run && code_is 0)
    done
}

@test "what is no project is refused with the reason, and nothing is trusted" {
    got team new t
    mkdir -p empty half/.cliq
    got team trust empty
    is 2 "$code"
    has "$err" "empty is no project: it has neither .cliq/workflow.yml nor workflow.yml"
    got team trust half
    is 4 "$code"
    has "$err" "nothing is assembled in half, so there is nothing to trust: cliq assemble TEAM"
    got team trust t
    is 2 "$code"
    has "$err" "t is a team, and trust is in what a project assembled from it: cliq assemble ./t trusts it"
    got team trust nowhere
    is 4 "$code"
    (cd half && "$CLIQ" init >/dev/null && got team trust && is 4 "$code" && has "$err" "nothing is assembled in $PWD/.cliq")
    [ ! -e "$CLIQ_HOME/trusted" ]
}
