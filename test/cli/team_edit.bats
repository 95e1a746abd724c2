#!/usr/bin/env bats
# team add-role and team version: they change a team's files, and nothing else in them.
load ../lib/cli

@test "add-role makes a text to fill in, which validates" {
    got team new t
    printf 'name: t\ndescription: d\nphases: [{ name: one, agent: claude-code }]\n' >t/team.yml
    got team add-role ./t one
    succeeds
    is "made ./t/roles/one.md" "$out"
    is "" "$err"
    got team validate t
    succeeds
    is "t/team.yml: valid: t, 1 phase" "$out"
}

@test "add-role copies a file or standard input, and touches no role that exists" {
    got team new t
    printf 'Check the facts.\n' >text
    got team add-role t verify --from text
    succeeds
    is "Check the facts." "$(<t/roles/verify.md)"
    got team add-role t verify --from text
    is 5 "$code"
    has "$err" "roles/verify.md exists already"
    printf 'Draft.' | got team add-role t draft --from -
    is "Draft." "$(<t/roles/draft.md)"
    is "draft.md verify.md" "$(ls t/roles | paste -sd' ')"
}

@test "add-role says when no phase has the role, and refuses what is no role" {
    got team new t
    got team add-role t verfy
    code_is 0
    has "$err" "no phase has the role verfy yet (did you mean verify?)"
    got team add-role t ../verify
    is 2 "$code"
    printf '\377' >text
    got team add-role t verify --from text
    is 2 "$code"
    has "$err" "text is not plain UTF-8 text"
    got team add-role t verify --from nowhere
    is 4 "$code"
    got team add-role nowhere verify
    is 4 "$code"
    is "verfy.md" "$(ls t/roles)"
}

@test "version bumps one number, and leaves all else in the file as it is" {
    printf '# mine\nname: t\nversion: "1.2.3"   # the version\ntags: [ü, "1.2.3"]\nphases: []\n' >team.yml
    chmod 640 team.yml
    cp team.yml before
    got team version patch
    succeeds
    is "t: 1.2.4, was 1.2.3" "$out"
    is '< version: "1.2.3"   # the version > version: 1.2.4   # the version' \
        "$(diff before team.yml | grep '^[<>]' | paste -sd' ')"
    is 640 "$(stat -c %a team.yml)"
    mkdir real && mv team.yml real/one.yml && ln -s real/one.yml team.yml
    got team version minor .
    [ -L team.yml ]
    is one.yml "$(ls real)"
    is "t: 1.3.0, was 1.2.4" "$out"
    got team version major team.yml
    is "t: 2.0.0, was 1.3.0" "$out"
}

@test "a team without a version, or with one that is none, gets 1.0.0" {
    printf 'name: t\nphases: []\n' >team.yml
    got team version patch
    succeeds
    is $'name: t\nversion: 1.0.0\nphases: []' "$(<team.yml)"
    printf 'version:\nname: t' >team.yml
    got team version major
    is $'version: 1.0.0\nname: t' "$(<team.yml)"
    printf 'name: t\nversion: newest\n' >team.yml
    got team version minor
    is $'name: t\nversion: 1.0.0' "$(<team.yml)"
}

@test "version changes nothing that it cannot change safely" {
    local text
    for text in '{name: t}' $'name: t\nversion: >\n  1.2.3\n' $'name: t\nversion: [1]\n'; do
        printf '%s' "$text" >team.yml
        got team version patch
        is 2 "$code"
        has "$err" "write version: 1.0.0 yourself"
        cmp team.yml <(printf '%s' "$text")
    done
    printf 'name: [' >team.yml
    got team version patch
    is 2 "$code"
    has "$err" "team.yml:"
    got team version huge
    is 2 "$code"
    has "$err" '"huge" is no part of a version'
    is team.yml "$(ls)"
}

@test "a name with control characters reaches no terminal" {
    local dir=$'t\e[31m'
    got team new t --dir "$dir"
    printf 'name: "\\e[31mt"\n' >"$dir/team.yml"
    got team version patch "$dir"
    is '\x1b[31mt: 1.0.0' "$out"
    got team add-role "$dir" one
    is 'made t\x1b[31m/roles/one.md' "$out"
}

@test "what assemble made is not changed" {
    got team new t
    "$CLIQ" init >/dev/null && "$CLIQ" assemble ./t >/dev/null
    got team version patch
    is 4 "$code"
    has "$err" "change the team.yml that it came from"
}
