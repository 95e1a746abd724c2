#!/usr/bin/env bats
# cliq lease: files that one agent writes at a time.
load ../lib/cli
load ../lib/hub

repository() { # DIR [ORIGIN]
    git init -q "$1"
    git -C "$1" config user.email t@example.org
    git -C "$1" config user.name t
    [ -z "${2:-}" ] || git -C "$1" remote add origin "$2"
}

@test "two identities do not lease the same file; the refusal names the holder and the end" {
    repository .
    mkdir src
    got lease take src 'test/**/*.c' --as ruby --reason parser
    succeeds
    is "src/** test/**/*.c" "$(cut -f1 "$T/out" | paste -sd' ')"
    got lease take doc/a.md src/new.c --as eve
    refused 5 "src/new.c is leased by ruby until 20" "(parser)" "as src/**" "cliq lease list"
    got lease take 'test/*/x.*' --as eve
    refused 5 "test/*/x.* is leased by ruby" "as test/**/*.c"
    got lease take test/x.h doc/ --as eve
    succeeds
    got lease list --json
    succeeds
    is "doc/** src/** test/**/*.c test/x.h" "$(field path <"$T/out" | paste -sd' ')"
    is "eve ruby ruby eve" "$(field holder <"$T/out" | paste -sd' ')"
    got lease list test/a/b.c
    succeeds
    is "test/**/*.c" "$(cut -f1 <"$T/out")"
}

@test "a lease is released by its holder, by an admin, or by its time" {
    repository .
    cliq lease take a b c --as ruby >/dev/null
    got lease release b --as ruby
    succeeds
    is b "$(cut -f1 "$T/out")"
    got lease release b --as ruby
    refused 4 "ruby has leased none of them (cliq lease list shows all leases)"
    got lease release --holder ruby --as root
    succeeds
    is "a c" "$(cut -f1 "$T/out" | paste -sd' ')"
    has "$(cliq inbox @ruby)" "lease:ruby:released"
    got lease list
    succeeds
    is "" "$out"
    cliq lease take a --as ruby --ttl 100ms >/dev/null 2>&1 || cliq lease take a --as ruby --ttl 1s >/dev/null
    until_true cliq lease take a --as eve
    has "$(cliq inbox @ruby)" "lease:ruby:expired"
    got hub check
    succeeds
}

@test "checkouts of one project share its leases, other projects do not" {
    repository one git@example.org:team/web.git
    repository two https://example.org/team/web
    repository other https://example.org/team/api
    mkdir one/src two/src
    (cd one/src && cliq lease take a.c --as ruby >/dev/null)
    cd two
    got lease take src/a.c --as eve
    refused 5 "leased by ruby"
    cd ../other
    got lease take src/a.c --as eve
    succeeds
    got lease list --all --json
    is "git:example.org/team/api git:example.org/team/web" "$(field project <"$T/out" | paste -sd' ')"
}

@test "bad paths are refused with the reason" {
    repository .
    got lease take ../x --as ruby
    refused 2 "../x is outside the project"
    got lease take '' --as ruby
    refused 2 "an empty path names no file"
    got lease take 'a[' --as ruby
    refused 2 "a [ has no ]"
    got lease take --as ruby
    refused 2
    got lease list x --all
    refused 2 "--all"
    touch 'a[1].c' # a file that is there is no pattern
    got lease take 'a[1].c' --as ruby
    succeeds
    got lease take a1.c --as eve
    succeeds
}

@test "the guard refuses a commit of files that another identity has leased" {
    repository .
    git commit -q --allow-empty -m start
    touch "a file" b.c c.c d.c
    git add .
    cliq lease take "a file" 'b.*' --as ruby >/dev/null
    got lease guard --as eve
    refused 5 "a file is leased by ruby until 20" "; b.c is leased by ruby"
    got lease guard --as ruby
    succeeds
    git reset -q "a file" b.c
    got lease guard --as eve
    succeeds
    cd ..
    mkdir bare && cd bare
    got lease guard --as eve
    refused 4 "git"
}

@test "the guard as a pre-commit hook: installed beside what is there, twice without harm, removed" {
    export PATH=$BIN:$PATH
    repository .
    touch a.c
    git add a.c
    got lease guard --install
    code_is 0
    cliq lease take a.c --as ruby >/dev/null
    CLIQ_IDENTITY=eve got_from git commit -q -m no
    code_is 1
    has "$err" "a.c is leased by ruby"
    CLIQ_IDENTITY=ruby git commit -q -m yes
    got lease guard --uninstall
    code_is 0
    [ ! -e .git/hooks/pre-commit ]
    printf '#!/usr/bin/env bash\nset -e\necho mine >>"%s"\n' "$T/mine" >.git/hooks/pre-commit
    chmod 755 .git/hooks/pre-commit
    cp .git/hooks/pre-commit "$T/before"
    got lease guard --install
    code_is 0
    got lease guard --install
    has "$out" already
    touch d.c
    echo x >a.c
    git add .
    CLIQ_IDENTITY=eve got_from git commit -q -m no
    code_is 1
    [ ! -e "$T/mine" ]
    git reset -q a.c
    CLIQ_IDENTITY=eve git commit -q -m yes
    [ -e "$T/mine" ]
    is 755 "$(stat -c %a .git/hooks/pre-commit)"
    got lease guard --uninstall
    cmp .git/hooks/pre-commit "$T/before"
    printf '#!/usr/bin/python3\n' >.git/hooks/pre-commit
    got lease guard --install
    refused 5 "no shell script" "cliq lease guard"
    # Without a store that answers, the commit goes on.
    printf '#!/bin/sh\n' >.git/hooks/pre-commit
    chmod 755 .git/hooks/pre-commit
    cliq lease guard --install >/dev/null
    touch e.c
    git add .
    CLIQ_URL=http://127.0.0.1:1 CLIQ_KEY=x got_from git commit -q -m "no hub"
    code_is 0
}
