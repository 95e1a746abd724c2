#!/usr/bin/env bats
# Sources and target_entries of a phase that a model does: fetched before it is asked, shown to it, and delivered
# afterwards by the connector that each entry names.
load connectors

SECRET=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY

# model STEP: the scripted model (test/lib/llm_server.py).
model() {
    mkdir -p "$T/model"
    printf '[%s]' "$1" >"$T/model/script"
    start model "$PY" "$ROOT/test/lib/llm_server.py" "$T/model"
    until_true test -e "$T/model/port"
    "$CLIQ" settings agents.claude-api.base_url "http://127.0.0.1:$(<"$T/model/port")" >/dev/null
    "$CLIQ" settings agents.claude-api.api_key sk-test-123456 >/dev/null
}
store() {
    service s3
    setting access_key_id AKIDEXAMPLE
    setting secret_access_key $SECRET
    setting base_url "$URL"
    mkdir -p "$T/team/roles"
    echo "Summarize the report in one sentence, for people who have no time." >"$T/team/roles/move.md"
}
by_model() {
    NAME=claude-api
    phase
}

@test "a model gets its sources in the prompt, and its answer is delivered" {
    store
    echo "sales rose by 7 percent" >report.txt
    phase <<<'target_entries: [ { name: report, file: report.txt, ref: s3://bucket/report.txt } ]'
    works
    model '{"text":"Sales are up.\n\n```json\n{\"change\":7}\n```\n"}'
    by_model <<'EOF2'
sources: [ { name: in/report.txt, ref: s3://bucket/report.txt } ]
target_entries: [ { name: summary, file: files/move/answer.md, ref: s3://bucket/summary.md } ]
EOF2
    works
    has "$(<"$T/model/requests")" "## Fetched Files"
    has "$(<"$T/model/requests")" "> sales rose by 7 percent"
    has "$(<.cliq/run/prompts/move.1.md)" "> sales rose by 7 percent"
    is 7 "$(handoff change)"
    is 24 "$(handoff sources in/report.txt size)"
    is bucket/summary.md "$(handoff targets summary ref)"
    NAME=s3
    phase <<<'sources: [ { name: back, ref: bucket/summary.md } ]'
    works
    has "$(<.cliq/files/move/back)" "Sales are up."
    in_no_file $SECRET
}

@test "a source that cannot be fetched fails the phase before the model is asked" {
    store
    model '{}'
    by_model <<<'sources: [ { name: report, ref: s3://bucket/none } ]'
    fails "source report: "
    is 0 "$(cat "$T/model/requests" 2>/dev/null | wc -l)"
}

@test "a large or binary source is named in the prompt, with its path" {
    store
    head -c 300000 /dev/zero | tr '\0' x >big
    phase <<<'target_entries: [ { name: big, file: big, ref: s3://bucket/big } ]'
    works
    model '{}'
    by_model <<<'sources: [ { name: big.txt, ref: s3://bucket/big } ]'
    works
    has "$(<.cliq/run/prompts/move.1.md)" "(300000 bytes, not shown here: read the file .cliq/files/move/big.txt)"
}
