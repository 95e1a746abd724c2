#!/usr/bin/env bats
# A team of three makers' programs: claude plans, codex writes, gemini judges, opencode reports.
load agents

@test "architect, developer, reviewer and reporter work together" {
    llm
    mkdir -p "$T/team/roles"
    for p in architect developer reviewer reporter; do echo "You are the $p of a small team." >"$T/team/roles/$p.md"; done
    team <<'END'
phases:
  - {name: architect, agent: claude-code}
  - {name: developer, agent: codex, model: fake-model, depends_on: [architect]}
  - name: reviewer
    agent: gemini
    type: gate
    model: gemini-2.5-flash
    depends_on: [developer]
    max_iterations: 3
    commands: [{name: unit, run: "grep -q tested app.txt"}]
  - {name: reporter, agent: opencode, model: m1, depends_on: [reviewer]}
END
    settings claude-code.base_url "$LLM" claude-code.api_key sk-fake-1 codex.base_url "$LLM/v1" codex.api_key sk-fake-2 \
        gemini.base_url "$LLM" gemini.api_key sk-fake-3 opencode.base_url "$LLM/v1" opencode.api_key sk-fake-4
    "$CLIQ" req -m "Write app.txt, with a test" >/dev/null
    script <<END
[{"when":"You are the architect","turns":[
   {"write":"$T/proj/design.txt","content":"one file\n"},
   {"text":"One file is enough.\n\n\`\`\`json\n{\"files\":[\"app.txt\"]}\n\`\`\`"}]},
 {"when":"You are the developer","turns":[
   {"write":"$T/proj/app.txt","content":"app\n"}, {"text":"Written."},
   {"write":"$T/proj/app.txt","content":"app, tested\n"}, {"text":"Tested, too."}]},
 {"when":"You are the reviewer","turns":[
   {"text":"No test.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"developer\"},\"comment\":\"the test is missing\"}\n\`\`\`"},
   {"text":"Good.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"all is there\"}\n\`\`\`"}]},
 {"when":"You are the reporter","turns":[{"write":"$T/proj/report.txt","content":"done\n"},{"text":"Reported."}]}]
END
    run_ok
    is "one file" "$(<design.txt)"
    is "app, tested" "$(<app.txt)"
    is "done" "$(<report.txt)"
    is "['app.txt']" "$(json .cliq/channels/architect--developer/handoff.json 'd["data"]["files"]')"
    has "$(<.cliq/channels/reviewer--developer/handoff.json)" "the test is missing"
    # the developer went on with its conversation, and read why
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 1][-1]')" "the test is missing"
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 1][-1]')" "Written."
    # what each used is in the run
    has "$("$CLIQ" status --json)" '"input_tokens"'
}
