#!/usr/bin/env bats
# team list and references to installed teams.
load ../lib/cli

# Installs a team of that name, as a package does.
install_team() { # @scope/name
    mkdir -p "$CLIQ_HOME/teams/${1%/*}"
    "$CLIQ" team new "$1" --dir "$CLIQ_HOME/teams/$1" >/dev/null
}

@test "without installed teams there is a note, and an empty list as JSON" {
    got team list
    code_is 0
    is "" "$out"
    has "$err" "no team is installed"
    got team list --json
    is "[]" "$out"
}

@test "installed teams are listed by name, with those that cannot be loaded" {
    install_team @local/zoo
    install_team @acme/review
    install_team @acme/broken
    printf 'name: [\n' >"$CLIQ_HOME/teams/@acme/broken/team.yml"
    mkdir -p "$CLIQ_HOME/teams/not-a-scope/x" "$CLIQ_HOME/teams/@acme/.hidden"
    got team list
    succeeds
    is "TEAM @acme/broken @acme/review @local/zoo" "$(awk '{print $1}' <<<"$out" | paste -sd' ')"
    has "$out" "team.yml:2:1:"
    got team list --json
    is "[('@acme/broken', None, True), ('@acme/review', 3, False), ('@local/zoo', 3, False)]" \
        "$($PY -c 'import json,sys; print([(t["name"], t.get("phases"), "error" in t) for t in json.load(sys.stdin)])' <<<"$out")"
}

@test "commands take the name of an installed team, and suggest the nearest one" {
    install_team @acme/review
    install_team @local/zoo
    got team validate @acme/review
    succeeds
    has "$out" "@acme/review/team.yml: valid: @acme/review, 3 phases"
    got team info zoo
    succeeds
    has "$out" "@local/zoo"
    got team info @acme/reviwe
    is 4 "$code"
    has "$err" "the team @acme/reviwe is not installed (did you mean @acme/review?); these are: @acme/review, @local/zoo"
    got assemble zooo
    is 4 "$code"
    has "$err" "the team @local/zooo is not installed (did you mean @local/zoo?)"
    has "$err" "A directory is named by a path, like ./zooo"
    got assemble @acme/reviwe@1.2
    refused 4 "the team @acme/reviwe is not installed" "cliq assemble hub://@acme/reviwe@1.2 takes it from the hub"
    [ ! -e .cliq ]
}
