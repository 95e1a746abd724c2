#!/usr/bin/env bats
# The connector s3 in real runs, at a store that checks every signature (test/services/s3.py).
load connectors

SECRET=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
store() {
    service s3
    setting access_key_id AKIDEXAMPLE
    setting secret_access_key $SECRET
    setting base_url "$URL"
}
big() { "$PY" -c "import sys; sys.stdout.buffer.write(bytes(range(256)) * ($1 * 4096) + b'end')" >"$2"; }

@test "a file is put, listed over pages, and got again" {
    store
    printf 'a,b\n' >t.csv
    echo plain >p
    phase <<'END'
target_entries:
  - { name: one, file: t.csv, ref: "s3://bucket/dir/a b+c&d=é.csv" }
  - { name: two, file: p, ref: bucket/dir/two }
  - { name: three, file: p, ref: bucket/dir/three }
  - { name: other, file: p, ref: bucket/other, mode: replace }
END
    works
    is PUT "$(asked 1 method)"
    is "/bucket/dir/a%20b%2Bc%26d%3D%C3%A9.csv" "$(asked 1 path)"
    like "$(asked 1 headers content-type)" ^text/csv
    is "$(md5sum <t.csv | cut -d' ' -f1)" "$(handoff targets one etag)"
    is "bucket/dir/a b+c&d=é.csv" "$(handoff targets one ref)"
    is "$URL/bucket/dir/a%20b%2Bc%26d%3D%C3%A9.csv" "$(handoff targets one url)"
    is 4 "$(handoff targets one size)"
    has "$(signals)" '"message":"target two: s3 put bucket/dir/two, 6 bytes"'
    phase <<'END'
sources:
  - { name: dir/t.csv, ref: "s3://bucket/dir/a b+c&d=é.csv" }
  - { name: list.json, ref: bucket/dir/, action: list }
  - { name: one.json, ref: bucket/dir/, action: list, limit: 1 }
END
    works
    cmp t.csv .cliq/files/move/dir/t.csv
    is .cliq/files/move/dir/t.csv "$(handoff sources dir/t.csv file)"
    is v1 "$(handoff sources dir/t.csv version_id)"
    is "Wed, 12 Oct 2022 17:50:00 GMT" "$(handoff sources dir/t.csv last_modified)"
    is 3 "$(handoff sources list.json count)"
    is "dir/a b+c&d=é.csv" "$(field .cliq/files/move/list.json 0 key)"
    is 6 "$(field .cliq/files/move/list.json 2 size)"
    is "$(md5sum <p | cut -d' ' -f1)" "$(field .cliq/files/move/list.json 1 etag)"
    is 1 "$(handoff sources one.json count)"
    is 8 "$(n_asked)" # the list has two pages
    in_no_file $SECRET
}

@test "a large file goes in parts, and is never held in memory" {
    store
    big 20 big
    [[ $BIN == *sanitize* ]] || ulimit -d 16000 # AddressSanitizer needs more of its own
    phase <<<'target_entries: [ { name: big, file: big, ref: bucket/big } ]'
    works
    is POST "$(asked 1 method)"
    is "/bucket/big?uploads" "$(asked 1 path)"
    is 8388608 "$(asked 2 size)"
    is 4194307 "$(asked 4 size)"
    is 5 "$(n_asked)"
    is abc-3 "$(handoff targets big etag)"
    phase <<<'sources: [ { name: big, ref: bucket/big } ]'
    works
    cmp big .cliq/files/move/big
}

@test "an upload whose part is refused, or that cannot be completed, is aborted" {
    store
    big 9 big
    phase <<<'target_entries: [ { name: big, file: big, ref: bucket/broken } ]'
    fails "target big: $URL/bucket/broken answered 400: " "the second part is refused"
    is DELETE "$(asked 4 method)"
    has "$(asked 4 path)" "uploadId=up%2B0%2F%3D%3D"
    phase <<<'target_entries: [ { name: big, file: big, ref: bucket/late } ]'
    fails "target big: S3 answered 200 with an error: We encountered an internal error."
}

waits() { grep -q 'partNumber=2' "$T/requests" 2>/dev/null; }
# An upload of three parts is in its second one; "$@" are more fields of the phase.
half_an_upload() {
    store
    big 20 big
    mkfifo "$T/go"
    printf '%s\n' "$@" 'target_entries: [ { name: big, file: big, ref: bucket/big } ]' >"$T/fields"
    phase <"$T/fields" 3>&- &
    RUN=$!
    until_true waits
}

@test "an upload that is cancelled is aborted before its process ends" {
    half_an_upload
    "$CLIQ" cancel >/dev/null
    wait $RUN
    is DELETE "$(asked 4 method)"
    has "$(asked 4 path)" "/bucket/big?uploadId=up%2B0%2F%3D%3D"
    is 4 "$(n_asked)"
    is "" "$(ls .cliq/run/uploads)"
}

@test "an upload whose process was killed is aborted by the next attempt, which sends the file" {
    half_an_upload "retries: 1"
    local pid=$(readlink .cliq/run/attempts/move.1 | cut -d" " -f1)
    rm "$T/go"
    kill -KILL "$pid"
    wait $RUN
    is DELETE "$(asked 4 method)"
    has "$(asked 4 path)" "/bucket/big?uploadId=up%2B0%2F%3D%3D"
    is "/bucket/big?uploads" "$(asked 5 path)"
    is 9 "$(n_asked)"
    is abc-3 "$(handoff targets big etag)"
    is "" "$(ls .cliq/run/uploads)"
}

@test "errors of the store fail the phase with its words, and leave no file" {
    store
    phase <<<'sources: [ { name: x, ref: bucket/none } ]'
    fails "source x: $URL/bucket/none answered 404: " NoSuchKey
    [ ! -e .cliq/files/move/x ]
    phase <<<'sources: [ { name: x, ref: elsewhere/none } ]'
    fails "answered 301: " PermanentRedirect "; the bucket is in eu-west-1: cliq settings agents.s3.region eu-west-1"
    is "" "$(ls -A .cliq/files/move)"
    setting secret_access_key wrong-secret
    phase <<<'sources: [ { name: x, ref: bucket/none } ]'
    fails "answered 403: " SignatureDoesNotMatch \
        "; check the settings agents.s3.access_key_id and agents.s3.secret_access_key, and what that key may do"
    in_no_file wrong-secret
    setting region eu-west-1
    phase <<<'sources: [ { name: x, ref: bucket/none } ]'
    fails "answered 400: " "expecting 'us-east-1'" "; the bucket is in us-east-1: cliq settings agents.s3.region us-east-1"
}

@test "the keys come from the environment, with a session token and a region" {
    export S3_TOKEN='session/token+=' S3_REGION=eu-central-1
    service s3
    setting base_url "$URL"
    phase <<<'sources: [ { name: x, ref: bucket/x } ]'
    fails "the agent s3 needs keys: the settings agents.s3.access_key_id"
    export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=$SECRET AWS_SESSION_TOKEN=$S3_TOKEN AWS_REGION=eu-central-1
    echo hi >f
    phase <<<'target_entries: [ { name: x, file: f, ref: bucket/x } ]'
    works
    in_no_file "$SECRET" 'session/token'
}

@test "a store that is busy is asked again after Retry-After" {
    store
    echo "503 1" >"$T/faults"
    echo hi >f
    phase <<<'target_entries: [ { name: x, file: f, ref: bucket/x } ]'
    works
    is 2 "$(n_asked)"
    has "$(signals)" "target x: the server answered 503; next try in 1 s"
}

@test "a pause that is too long for the phase, or for anybody, is not made" {
    store
    echo "429 90" >"$T/faults"
    phase < <(printf '%s\n' 'timeout: 30s' 'sources: [ { name: x, ref: bucket/x } ]')
    fails "answered 429, and wants to be asked again in 90 s at the earliest, and the phase's time limit comes in 30 s"
    echo "429 3600" >"$T/faults"
    phase < <(printf '%s\n' 'timeout: 3h' 'sources: [ { name: x, ref: bucket/x } ]')
    fails "answered 429, and wants to be asked again in 10 minutes or later"
    is 2 "$(n_asked)"
}

@test "a test message asks the store whether the keys are good" {
    store
    got doctor agent s3
    has "$out" "connection... - not tested: you have not assembled or trusted this project"
    phase <<<'sources: [ { name: x, ref: bucket/x } ]'
    got doctor agent s3
    succeeds
    has "$out" "connection... ✓ ($URL accepts the key)"
    touch "$T/scoped" # a key that may not list buckets is a good one
    got doctor agent s3
    succeeds
    setting secret_access_key wrong-secret
    got doctor agent s3
    code_is 1
    has "$out" "answered 403: " SignatureDoesNotMatch
    lacks "$out" wrong-secret
}

@test "path_style false puts the bucket before the host" {
    store
    setting path_style false
    setting base_url "${URL/127.0.0.1/localhost}"
    phase <<<'sources: [ { name: x, ref: bucket/x } ]'
    fails "http://bucket.localhost:"
    setting proxy "$URL" # as the resolver does not know bucket.localhost everywhere
    phase <<<'sources: [ { name: x, ref: bucket/x } ]'
    has "$(asked 1 headers host)" bucket.localhost:
}

@test "what is wrong is told before the first request" {
    store
    echo hi >f
    phase <<'END' 2>/dev/null || true
action: fetch
sources: [ { name: x, ref: bucket/x } ]
END
    has "$err" 'the agent s3 has no action "fetch"; these are: get list put'
    for ref in b /x bucket/../x 'a b/c'; do
        phase <<<"sources: [ { name: x, ref: '$ref' } ]"
        fails "source x: its "
    done
    phase <<<'sources: [ { name: x, ref: bucket/ } ]'
    fails "its ref names a bucket, but no key in it"
    phase <<<'target_entries: [ { name: x, file: f, ref: bucket/x, mode: append } ]'
    fails "S3 cannot append"
    phase <<<'target_entries: [ { name: x, file: f } ]'
    fails "target x: it has no ref"
    phase <<<'sources: [ { name: x, ref: bucket/x }, { name: y, ref: bucket/y, action: putt } ]' || true
    code_is 1
    has "$err" 'y: the agent s3 has no action "putt"; these are: get list put (phase move, field sources)'
    phase <<<'sources: [ { name: y, agent: jira, ref: X-1, action: get_isue } ]' || true
    has "$err" 'y: the agent jira has no action "get_isue"; these are: get_issue get_comments'
    phase <<<'sources: [ { name: x, ref: bucket/x }, { name: y, ref: bucket/y, action: "put$(team_name)" } ]'
    fails "source y: the agent s3 knows the actions get, list and put, not put@local/move"
    [ ! -e "$T/requests" ]
}
