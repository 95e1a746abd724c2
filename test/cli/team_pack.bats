#!/usr/bin/env bats
# team pack: the bytes of a package, what goes in, what is refused.
load ../lib/cli

a_team() { # DIR [VERSION]
    "$CLIQ" team new @acme/review --dir "$1" >/dev/null
    sed -i "s/^version:.*/version: ${2:-1.2.0}/" "$1/team.yml"
    mkdir -p "$1/roles" "$1/agents/x/.bin"
    echo "Draft." >"$1/roles/draft.md"
    echo 'console.log(1)' >"$1/agents/x/run.js"
    chmod 755 "$1/agents/x/run.js"
    ln -s ../run.js "$1/agents/x/.bin/x"
}

@test "the same team gives the same bytes, whatever its times and modes" {
    a_team one
    cp -r one two
    touch -d 2001-01-01 two/team.yml
    chmod 600 two/README.md
    got team pack one
    succeeds
    is "$(sha256sum acme-review-1.2.0.tgz)" "$out"
    got team pack two -o two.tgz --json
    succeeds
    cmp acme-review-1.2.0.tgz two.tgz
    has "$out" "\"sha256\":\"$(sha256sum <two.tgz | cut -d' ' -f1)\""
}

@test "a package has what a team is made of, sorted, and nothing else of the directory" {
    a_team one
    mkdir one/.git one/notes
    touch one/.env one/notes/x one/settings.json one/roles/draft.txt
    got team pack one -o p.tgz
    succeeds
    is "README.md agents/ agents/x/ agents/x/.bin/ agents/x/.bin/x agents/x/run.js roles/ roles/draft.md team.yml" \
        "$(tar tzf p.tgz | paste -sd' ')"
    has "$(tar tvzf p.tgz agents/x/run.js)" "-rwxr-xr-x 0/0"
}

@test "a team with errors, links that lead out, and names that others cannot have are not packed" {
    a_team one
    ln -s /etc/hostname one/roles/host.md
    got team pack one
    refused 7 "roles/host.md is a link"
    rm one/roles/host.md
    ln -s /etc one/agents/etc
    got team pack one
    refused 7 "leads out of the team's agents/"
    rm one/agents/etc
    touch one/agents/$'a\nb'
    got team pack one
    refused 7 "printable ASCII"
    rm one/agents/a*b
    sed -i 's/depends_on: \[draft\]/depends_on: [nobody]/' one/team.yml
    got team pack one
    code_is 1
    has "$err" "nothing was packed"
    [ -z "$(ls -- *.tgz 2>/dev/null)" ]
}

@test "more than 50 MiB, or 10 MiB packed, is no package" {
    a_team one
    head -c 11000000 /dev/urandom >one/agents/noise
    got team pack one
    refused 7 "larger than 10 MiB"
    head -c 53000000 /dev/zero >one/agents/noise
    got team pack one
    refused 7 "50 MiB"
}
