#!/usr/bin/env bats
# team install, and assemble of whatever a team can be named by.
load ../lib/cli

a_team() { # DIR VERSION
    "$CLIQ" team new @acme/review --dir "$1" >/dev/null
    sed -i "s/^version:.*/version: $2/" "$1/team.yml"
}
a_package() { # VERSION: makes review-VERSION.tgz
    a_team "src-$1" "$1"
    "$CLIQ" team pack "src-$1" -o "review-$1.tgz" >/dev/null
}
installed() { sed -n 's/^version: //p' "$CLIQ_HOME/teams/@acme/review/team.yml"; }
nothing_left() { is "" "$(find "$CLIQ_HOME/teams" -name '.new-*')"; }

@test "a directory, a package and a git repository are installed; the same version needs --force" {
    a_package 1.0.0
    got team install ./src-1.0.0
    succeeds
    has "$out" "Installed @acme/review 1.0.0"
    got team install review-1.0.0.tgz
    refused 5 "@acme/review 1.0.0 is installed already; --force"
    got team install review-1.0.0.tgz --force
    succeeds
    a_package 1.1.0
    got team install review-1.1.0.tgz
    succeeds
    has "$out" "Installed @acme/review 1.1.0, was 1.0.0"
    is 1.1.0 "$(installed)"
    a_team repo 2.0.0
    git init -q repo
    git -C repo add .
    git -C repo -c user.name=a -c user.email=a@localhost commit -qm one
    git -C repo tag v2
    got team install "file://$PWD/repo#v2"
    succeeds
    is 2.0.0 "$(installed)"
    got team install "file://$PWD/repo#v3"
    refused 74 "git clone failed"
    got team list --json
    has "$out" '"version":"2.0.0"'
    nothing_left
}

@test "a package with one directory at its top means that directory" {
    a_team review-main 3.0.0
    tar czf main.tgz review-main
    got team install main.tgz
    succeeds
    is 3.0.0 "$(installed)"
    nothing_left
}

@test "info and validate look into a package that nobody installed or trusted, and run nothing of it" {
    a_package 1.0.0
    got team info review-1.0.0.tgz
    succeeds
    has "$out" "version      1.0.0"
    has "$out" "verify   gate"
    got team info --json ./review-1.0.0.tgz
    has "$out" '"name":"@acme/review","version":"1.0.0"'
    got team validate review-1.0.0.tgz
    succeeds
    is "review-1.0.0.tgz: valid: @acme/review, 3 phases" "$out"
    a_team bad 2.0.0
    sed -i 's/depends_on: \[draft\]/depends_on: [nobody]/' bad/team.yml
    tar czf bad.tgz bad
    got team validate bad.tgz
    code_is 1
    is "" "$err"
    has "$out" "team.yml:22:18: error: depends on unknown phase"
    has "$out" "bad.tgz: not valid: 1 error"
    head -c 300 review-1.0.0.tgz >half.tgz
    got team info half.tgz
    refused 2 "this is no package of a team, or it is damaged"
    head -c 11M /dev/urandom >large.tgz
    got team validate large.tgz
    refused 7 "larger than 10 MiB"
    got team list --json
    is "[]" "$out"
    nothing_left
}

@test "what is no team, has errors or is damaged is not installed, and the old team stays" {
    a_package 1.0.0
    "$CLIQ" team install review-1.0.0.tgz >/dev/null
    head -c 300 review-1.0.0.tgz >half.tgz
    echo hello >text.tgz
    mkdir empty
    tar czf empty.tgz empty
    a_team bad 2.0.0
    sed -i 's/depends_on: \[draft\]/depends_on: [nobody]/' bad/team.yml
    tar czf bad.tgz -C bad .
    for p in half text empty; do
        got team install $p.tgz
        refused 2
    done
    got team install bad.tgz
    code_is 1
    has "$err" "the team has 1 error"
    got team install none.tgz
    refused 2 "none.tgz"
    got team install ./none.tgz
    refused 4
    is 1.0.0 "$(installed)"
    nothing_left
}

@test "assemble takes a name with a version, a package and a repository; the name's version must fit" {
    a_package 1.2.3
    "$CLIQ" team install review-1.2.3.tgz >/dev/null
    for ref in @acme/review @acme/review@1 @acme/review@1.2 @acme/review@1.2.3 ./review-1.2.3.tgz review-1.2.3.tgz; do
        rm -rf .cliq
        got assemble "$ref"
        code_is 0
        has "$out" "Assembled"
        has "$err" "cliq team trust"
        [ -s .cliq/workflow.yml ]
    done
    rm -rf .cliq
    got assemble @acme/review@1.3
    refused 4 "installed in the version 1.2.3, not 1.3"
    [ ! -e .cliq ]
    nothing_left
}

@test "nothing of a package runs before it is trusted, and --trust is enough" {
    a_package 1.0.0
    "$CLIQ" team install review-1.0.0.tgz >/dev/null
    "$CLIQ" assemble @acme/review >/dev/null 2>&1
    "$CLIQ" req -m hello >/dev/null
    got run --headless
    refused 7 "cliq team trust"
    [ ! -e out ]
    got assemble @acme/review --trust
    succeeds
    "$CLIQ" req -m hello >/dev/null
    got run --headless
    code_is 0
    [ -s out/greeting.txt ]
    rm -rf .cliq # trust is in the content
    got assemble ./review-1.0.0.tgz
    succeeds
}

@test "on a terminal a person is asked once, and sees what would run" {
    a_package 1.0.0
    got_pty() { "$PY" "$ROOT/test/lib/answer.py" "$1" "$CLIQ" assemble review-1.0.0.tgz; }
    has "$(got_pty n)" "not trusted"
    ! "$CLIQ" run --headless 2>/dev/null || false
    said=$(got_pty y)
    has "$said" "command  mkdir -p out"
    has "$said" "Trust it?"
    lacks "$(got_pty y)" "Trust it?"
}

@test "update fetches again from where a team came; remove takes it away" {
    a_package 1.0.0
    got team install ./src-1.0.0
    succeeds
    got team update
    succeeds
    is "@acme/review: up to date" "$out"
    sed -i 's/^version:.*/version: 1.1.0/' src-1.0.0/team.yml
    cd "$T"
    got team update @acme/review
    succeeds
    is "@acme/review: 1.1.0, was 1.0.0" "$out"
    is 1.1.0 "$(installed)"
    rm -rf work/src-1.0.0
    got team update
    code_is 4
    has "$err" "/src-1.0.0"
    is 1.1.0 "$(installed)"
    got team remove @acme/review
    succeeds
    [ ! -e "$CLIQ_HOME/teams/@acme" ]
    got team remove @acme/review
    refused 4 "not installed"
    "$CLIQ" team new @local/own --dir "$CLIQ_HOME/teams/@local/own" >/dev/null 2>&1 || { mkdir -p "$CLIQ_HOME/teams/@local" && "$CLIQ" team new @local/own --dir "$CLIQ_HOME/teams/@local/own"; } >/dev/null
    got team update own
    refused 4 "was not installed by cliq team install"
}
