#!/usr/bin/env bats
# A room of two makers' programs: claude works, codex reviews and signs off.
load agents

@test "the walk of a room: task, done, review, fail, fix, done, pass, signoff, with real agents" {
    llm
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    mkdir -p .cliq/roles
    echo "You are the engineer of a small team." >.cliq/roles/engineer.md
    echo "You are the reviewer of a small team." >.cliq/roles/qa.md
    settings claude-code.base_url "$LLM" claude-code.api_key sk-fake-1 codex.base_url "$LLM/v1" codex.api_key sk-fake-2 codex.model fake-model
    "$CLIQ" settings roles.engineer.agent claude-code >/dev/null
    "$CLIQ" settings roles.qa.agent codex >/dev/null
    "$CLIQ" settings release.require_signoffs '["qa"]' >/dev/null
    script <<END
[{"when":"You are the engineer","turns":[
   {"write":"$PWD/app.txt","content":"app\n"}, {"text":"Written."},
   {"write":"$PWD/app.txt","content":"app, tested\n"}, {"text":"Tested, too."}]},
 {"when":"You are the reviewer","turns":[
   {"text":"No test.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"engineer\"},\"comment\":\"the test is missing\"}\n\`\`\`"},
   {"text":"Good.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"all is there\"}\n\`\`\`"},
   {"text":"Fine.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"approved for release\"}\n\`\`\`"}]}]
END
    "$CLIQ" room create room-001 --ref EPIC-001 -m "Write app.txt, with a test" >/dev/null
    got room run
    code_is 0
    is "app, tested" "$(<app.txt)"
    is "manager>engineer:task engineer>qa:done qa>engineer:review qa>manager:fail manager>engineer:fix engineer>qa:done qa>manager:pass manager>qa:release qa>manager:signoff" \
        "$("$CLIQ" channel read --room room-001 | $PY -c 'import json,sys; print(" ".join("%(from)s>%(to)s:%(type)s" % m for m in json.load(sys.stdin)))')"
    has "$("$CLIQ" channel read --room room-001 --type fix)" "the test is missing"
    # the engineer read why; the reviewer, what was said before
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 0][-1]')" "the test is missing"
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 1][1]')" "Tested, too."
}
