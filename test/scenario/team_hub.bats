#!/usr/bin/env bats
# Teams on a hub: published by one person, found and installed by another.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

# as NAME ARGS...: cliq of a person with a home and a key of their own.
as() {
    local who=$1
    shift
    [ -d "$T/$who" ] || {
        CLIQ_HOME=$T/$who "$CLIQ" settings --global hub.url "$URL" >/dev/null
        key_of "$who" >"$T/$who.key"
    }
    CLIQ_HOME=$T/$who CLIQ_KEY=$(cat "$T/$who.key") got "$@"
}

a_team() { # DIR VERSION
    "$CLIQ" team new @acme/review --dir "$1" >/dev/null
    sed -i "s/^version:.*/version: $2/" "$1/team.yml"
}
post_team() { # FILE [KEY [TYPE]]: prints the status
    curl -s -o answer -w '%{http_code}' "$URL/teams" -H "Authorization: Bearer ${2:-$KEY}" \
        -H "Content-Type: ${3:-application/gzip}" --data-binary "@$1"
}

@test "one publishes, another finds, installs, assembles, trusts, runs and updates" {
    a_team r 1.2.0
    as alice team publish r
    succeeds
    has "$out" "Published @acme/review 1.2.0: cliq team install hub://@acme/review@1.2.0"
    as alice team publish r
    refused 5 "@acme/review 1.2.0 is published already"
    as bob team list --hub
    succeeds
    like "$out" "@acme/review +1.2.0 +alice"
    as bob team list --hub GREETING --json
    has "$out" '"name":"@acme/review"'
    as bob team list --hub nothing
    is "" "$out"
    as bob team info hub://@acme/review
    succeeds
    has "$out" "owner        alice"
    as bob team install hub://@acme/review@1 # update stays below 2
    succeeds
    has "$out" "Installed @acme/review 1.2.0"
    as bob assemble @acme/review
    code_is 0
    as bob req -m hello
    as bob run --headless
    refused 7 "cliq team trust"
    [ ! -e out ]
    as bob team trust
    as bob run --headless
    code_is 0
    [ -s out/greeting.txt ]
    "$CLIQ" team version minor r >/dev/null
    as alice team publish r
    succeeds
    as bob team update
    is "@acme/review: 1.3.0, was 1.2.0" "$out"
    as bob team update
    is "@acme/review: up to date with 1, which was asked for when it was installed" "$out"
    rm -rf .cliq out
    as bob assemble hub://@acme/review@1.2 --trust
    succeeds
    has "$(cat .cliq/workflow.yml)" "version: 1.2.0"
    as bob team install hub://@acme/review@2
    refused 4 "has no version 2 of @acme/review"
    as bob team install hub://@acme/none
    refused 4 "no team @acme/none is published"
}

@test "a package is published as it is, and not changed in place" {
    a_team p 1.2.9
    "$CLIQ" team pack p >/dev/null
    as alice team publish acme-review-1.2.9.tgz
    succeeds
    has "$out" "Published @acme/review 1.2.9"
    as bob team info hub://@acme/review
    has "$out" "$(sha256sum <acme-review-1.2.9.tgz | cut -d' ' -f1)"
    head -c 300 acme-review-1.2.9.tgz >half.tgz
    as alice team publish half.tgz
    refused 2 "no package of a team, or it is damaged"
    sed -i 's/depends_on: \[draft\]/depends_on: [nobody]/' p/team.yml
    tar czf bad.tgz -C p .
    as alice team publish bad.tgz
    code_is 1
    has "$err" "the team has 1 error; nothing was published"
    as alice team version minor acme-review-1.2.9.tgz
    refused 2 "is a package: unpack it"
}

@test "a name belongs to who published it first; admins and later versions of the owner may" {
    a_team r 1.0.0
    as alice team publish r
    succeeds
    "$CLIQ" team version patch r >/dev/null
    as bob team publish r
    refused 7 "@acme/review belongs to alice"
    "$CLIQ" team pack r -o r.tgz >/dev/null
    is 200 "$(post_team r.tgz)"
    is "alice admin" "$(json 'd["data"]["owner"], d["data"]["published_by"]' <answer | tr -d "(),'")"
}

@test "without the scope, a key, the right type or a good package nothing is published" {
    a_team r 1.0.0
    "$CLIQ" team pack r -o r.tgz >/dev/null
    weak=$(key_of eve '["emit","inbox"]')
    is 403 "$(post_team r.tgz "$weak")"
    is 401 "$(post_team r.tgz cho_nobody)"
    is 415 "$(post_team r.tgz "$KEY" application/json)"
    head -c 200 r.tgz >half.tgz
    is 400 "$(post_team half.tgz)"
    is TEAM_INVALID "$(json 'd["error"]["code"]' <answer)"
    (cd r && ln -s /etc/passwd roles && tar czf ../link.tgz team.yml roles)
    is 400 "$(post_team link.tgz)"
    has "$(cat answer)" "is a link"
    sed -i '/^version/d' r/team.yml
    tar czf none.tgz -C r team.yml
    is 400 "$(post_team none.tgz)"
    has "$(cat answer)" "cliq team version"
    head -c 11000000 /dev/zero >large.tgz
    is 413 "$(post_team large.tgz)"
    head -c 2000000 /dev/urandom >noise.tgz
    is 413 "$(post_team noise.tgz "$weak")" # a stranger's body has the limit of all bodies
    is 400 "$(post_team noise.tgz)"
    is "[]" "$(look /teams | json 'd["data"]')"
    is 401 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/teams")"
    for v in .. ..%2f..%2fadmin.key .new-1 9.9.9; do
        like "$(curl -s --path-as-is -o /dev/null -w '%{http_code}' "$URL/teams/@acme/review/$v" -H "Authorization: Bearer $KEY")" "^40[04]$"
    done
    is 404 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/teams/@acme/review" -H "Authorization: Bearer $KEY")"
    is 400 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/teams?qury=x" -H "Authorization: Bearer $KEY")"
}

@test "what the hub hands out must have the SHA-256 that it says" {
    a_team r 1.0.0
    as alice team publish r
    echo more >>home/teams-hub/@acme/review/1.0.0/package.tgz
    as bob team install hub://@acme/review
    refused 7 "is not what the hub says it is"
    [ ! -e "$T/bob/teams/@acme" ]
}

@test "without a hub or a key, commands say what to set" {
    a_team r 1.0.0
    got team publish r
    refused 2 "hub.url"
    "$CLIQ" settings --global hub.url "$URL" >/dev/null
    got team publish r
    refused 7 "hub.token"
    "$CLIQ" settings --global hub.token - <home/admin.key >/dev/null
    got team publish r
    succeeds
}

@test "teams in teams travel in one package; an installed one has to be there, and trusted" {
    a_team inner 1.0.0
    mkdir -p outer/roles outer/teams
    cat >outer/team.yml <<'END'
name: "@acme/outer"
version: 1.0.0
description: a team with a team in it
phases:
  - { name: review, type: team, team: ./teams/inner }
  - { name: second, type: team, team: "@acme/review@1", depends_on: [review] }
END
    echo "Say hello to everybody who comes along here, please." | tee outer/roles/review.md >outer/roles/second.md
    cp -r inner outer/teams/inner
    sed -i 's/@acme.review/@acme\/bundled/' outer/teams/inner/team.yml
    as alice team publish inner
    succeeds
    as alice team publish outer # before the inner one is installed here
    code_is 1
    has "$err$out" "@acme/review is not installed"
    as alice team install inner
    as alice team publish outer
    succeeds
    as bob team install hub://@acme/outer
    code_is 0
    as bob assemble @acme/outer --trust
    code_is 1
    has "$err" "cliq team install DIR, or hub://@acme/review"
    as bob team install hub://@acme/review
    as bob assemble @acme/outer
    code_is 0
    as bob req -m hello
    as bob run --headless
    refused 7 "cliq team trust"
    [ ! -e out ]
    as bob team trust
    as bob run --headless
    code_is 0
    [ -s out/greeting.txt ]
    has "$out" "review/"
    has "$out" "second/"
    has "$(cat .cliq/frames/review/workflow.yml)" "@acme/bundled"
}
