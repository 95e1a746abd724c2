#!/usr/bin/env bats
# The references: `cliq help team.yml`, templates, protocol, manifest, settings, and their man pages. A field that
# cliq knows and a page lacks is a failure here, and a field that only the page has. Every example is executed.
load pipeline

page() { cliq help --scdoc "$1"; }
# fields PAGE [HEADING]: "HEADING<tab>KEY" of each row, or the keys below that heading.
fields() { page "$1" | $PY "$ROOT/test/scenario/references.py" fields | { [ $# = 1 ] && cat || sed -n "s/^$2\t//p"; }; }
# examples PAGE: its files below $T/ex/1, $T/ex/2, …
examples() { page "$1" | $PY "$ROOT/test/scenario/references.py" examples "$T/ex"; }
sorted() { sort | paste -sd' '; }

# project N: the example as a team, assembled into $T/proj; the test is in it then.
project() {
    cp -r "$T/ex/$1/." "$T/team/"
    cd "$T/proj" && cliq init >/dev/null && cliq assemble ../team >/dev/null
}

# ---- help and man pages --------------------------------------------------------------

@test "cliq help lists the topics; each is a text, a man page with the same words, and completed" {
    local name id words
    while read -r id name; do
        has "$(cliq help)" "  $name "
        has "$(cliq complete -- help "")" "$name"
        got help "$name"
        succeeds
        lacks "$out" "@fields"
        [ "$(wc -l <"$T/out")" -gt 50 ]
        command -v scdoc >/dev/null || continue
        words=$(mandoc -Tutf8 -O width=100 "$BIN/man/cliq-$id" | col -bx | tr -s '\n ' ' ')
        # literal blocks aside, where spaces count
        while read -r line; do
            has "$words" "$line"
        done < <(cliq help "$name" | sed -n 's/^  \([a-z_.]*\) - \(.*\)/\1 - \2/p' | grep -v '[^.;a-z])*$' | grep -v '"')
    done < <(sed -n 's/^TOPIC(\([a-z]*\), *"\([^"]*\)", *\([0-9]\).*/\1.\3 \2/p' "$ROOT/src/cmd/topics.def")
    is 6 "$(grep -c '^TOPIC(' "$ROOT/src/cmd/topics.def")"
}

@test "no line of a topic is wider than 80 columns, except examples" {
    local name
    for name in tutorial team.yml templates protocol manifest settings; do
        is "" "$(cliq help $name | sed -n "/^$name - /,\$p" | grep -v '^    ' | awk 'length > 80')"
    done
}

@test "help of a misspelt topic suggests it, and settings is both a command and a topic" {
    got help templaets
    refused 2 'did you mean "templates"?'
    got help team.yml extra
    refused 2 'unexpected argument "extra"'
    got help settings
    succeeds
    is "$(cliq settings --help)" "$(sed '/^settings - /,$d' "$T/out")"
    has "$out" "run.command_timeout - a time"
}

# ---- team.yml ------------------------------------------------------------------------

@test "every key of the page is known to the loader, at its place" {
    fields team.5 >"$T/fields"
    [ "$(wc -l <"$T/fields")" -gt 60 ]
    $PY - "$T/fields" "$T/team/team.yml" <<'END'
import json, sys
at = {}
for line in open(sys.argv[1]):
    path, key = line.rstrip("\n").split("\t")
    at.setdefault(path, {})[key] = None  # null: absent, but the key must be known
top = at["the top"]
top["workflow"] = at["workflow"]
top["inputs"] = [at["inputs[]"]]
top["agents"] = {"x": at["agents.NAME"]}
phase = at["phases[]"]
phase["review"] = at["phases[].review"]
phase["notify"] = at["phases[].notify"]
for name in "commands", "sources", "target_entries":
    phase[name] = [at["phases[].%s[]" % name]]
top["phases"] = [phase]
top["support"] = [phase]
json.dump(top, open(sys.argv[2], "w"))
END
    got team validate "$T/team"
    lacks "$out$err" "unknown key"
    sed -i 's/"retries"/"retreis"/' "$T/team/team.yml"
    got team validate "$T/team"
    has "$out$err" 'unknown key "retreis" in a phase (did you mean "retries"?)'
}

@test "every example of team.yml validates without a warning" {
    local dir n=0
    examples team.5
    mkdir "$T/bin" && printf '#!/bin/sh\n' | tee "$T/bin/make" >"$T/bin/claude"
    chmod +x "$T"/bin/*
    PATH=$T/bin:$PATH
    "$CLIQ" team install "$T/ex/1" >/dev/null # a phase of the last one runs it
    for dir in "$T"/ex/*/; do
        got team validate "$dir"
        is "" "$err"
        like "$out" "team.yml: valid: @local/[a-z]*, [0-9]* phases"
        code_is 0
        n=$((n + 1))
    done
    is 3 $n
}

@test "every key of team.yml is in an example" {
    examples team.5
    fields team.5 >"$T/fields"
    is "" "$($PY - "$T/fields" "$T/ex" <<'END'
import glob, re, sys
text = "\n".join(open(f).read() for f in glob.glob(sys.argv[2] + "/*/team.yml"))
used = set(re.findall(r"(?:^|[\s{,-])([a-z_]+):", text))
for line in open(sys.argv[1]):
    key = line.rstrip("\n").split("\t")[1]
    if key not in used:
        print(line, end="")
END
    )"
}

@test "the example with commands and an agent of its own runs; its gate routes to the support phase" {
    examples team.5
    mkdir -p "$T/bin" && printf '#!/bin/sh\n' >"$T/bin/make" && printf '#!/bin/sh\ntouch config.mk\n' >"$T/proj/configure"
    chmod +x "$T/bin/make" "$T/proj/configure"
    PATH=$T/bin:$BIN:$PATH
    project 2
    run_ok
    is "Built by reporter" "$(<.cliq/files/report/report.txt)"
    [ -e config.mk ]
}

# ---- templates -----------------------------------------------------------------------

@test "the example of templates does what the page says, whatever the value is" {
    examples templates.7
    PATH=$BIN:$PATH
    project 1
    cliq req -m x --input 'report=a fire $(touch bad); "`touch bad`"' >/dev/null
    run_ok
    like "$(paste -sd'|' repairs.txt)" '^a fire \$\(touch bad\); "`touch bad`" since 20[0-9T:.-]*Z\|room 7, on 20[0-9]{2}-[0-9]{2}-[0-9]{2}, by @local/triage$'
    [ ! -e bad ]
    cliq req -m x --input 'report=a leaf' >/dev/null
    rm repairs.txt
    run_ok --force
    [ ! -e repairs.txt ]
}

@test "every variable on the page has a value in a command, a text and a condition" {
    local name uses="" n=0
    for name in $(fields templates.7 VARIABLES); do
        case $name in
        inputs.NAME) name=inputs.who ;;
        handoff.PHASE.PATH) name=handoff.first.all_passed ;;
        esac
        uses="$uses\$($name)|"
        n=$((n + 1))
    done
    [ $n -ge 11 ]
    team <<END
inputs: [{name: who, default: me}]
phases:
  - {name: first, agent: exec, commands: [{name: t, run: "true"}]}
  - name: second
    agent: exec
    depends_on: [first]
    when: "$uses != ''"
    env: {ALL: "$uses"}
    commands:
      - {name: text, run: 'printf %s "\$ALL" >text'}
      - {name: shell, run: 'printf %s "$uses" >shell'}
END
    run_ok
    is $n "$(tr -cd '|' <text | wc -c)"
    lacks "$(<text)" '$('
    lacks "|$(<text)" '||'
    is "$(sed 's/20[0-9-]*T[^|]*//' text)" "$(sed 's/20[0-9-]*T[^|]*//' shell)"
    like "$(<text)" "^me\|true\|@local/test\|second\|20"
}

@test "variables are expanded exactly in the fields that the page names" {
    local field known
    known=$(fields templates.7 WHERE | sorted)
    is 'commands[].run env inputs notify review roles/<role>.md sources target_entries when' "$known"
    for field in agent model role action team; do
        printf 'name: t\ndescription: d\nphases: [{name: a, agent: exec, commands: [{name: c, run: "true"}], %s: %s}]\n' $field \
            '$(phase)' | sed "s/agent: exec, \(.*\)agent:/\1agent:/" >"$T/team/team.yml"
        got team validate "$T/team"
        has "$out$err" "\$(...) is not expanded in $field"
    done
}

# ---- the protocol --------------------------------------------------------------------

@test "the agents of the protocol's example run in a real pipeline, and both can fail" {
    examples protocol.7
    PATH=/usr/bin:/bin # no cliq, no SDK
    [ "$(wc -l <"$T/ex/1/agents/counter/agent.sh")" -le 10 ]
    project 1
    seq 3 >lines.txt
    run_ok
    is 3 "$(json .cliq/channels/count--check/handoff.json 'd["data"]["lines"]')"
    : >lines.txt
    run_is 3 --force
    has "$out$err" "failed: not-empty"
    rm lines.txt
    run_is 3 --force
    has "$out$err" "there is no lines.txt"
}

# talk: a run whose messages have every member that a run can write.
talk() {
    agent a <<'END'
env >"$T/env.$P"
ok
case $P.$N in
*notify*) ;;
check.1) verdict ROUTE fix "not yet" ;;
check.2) verdict ROUTE work "go on" ;;
check.*) verdict PASS ;;
*) complete '{"usage":{"session_id":"s-1","input_tokens":1,"output_tokens":1}}' ;;
esac
END
    mkdir -p "$T/team/roles" && echo "Work as you always do, with care, and say what you have done." >"$T/team/roles/worker.md"
    team <<'END'
phases:
  - {name: work, agent: a, action: go, model: m, role: worker, sources: [{name: s}], target_entries: [{name: t, file: f}],
     commands: [{name: c, run: "true"}], notify: {on_start: "a:ops"}}
  - {name: check, type: gate, agent: a, depends_on: [work], commands: [{name: c, run: "true"}]}
support:
  - {name: fix, agent: a}
END
    run_ok
    until_true exists .cliq/run/messages/_notify-a-on_start.work.1.1000.json
}

@test "the messages of a run have the members that the page lists, and no other" {
    talk
    fields protocol.7 >"$T/fields"
    $PY - "$T/fields" .cliq/run/messages <<'END'
import glob, json, sys
page = {}
for line in open(sys.argv[1]):
    heading, key = line.rstrip("\n").split("\t")
    page.setdefault(heading, set()).add(key)
phase = page["payload of a phase"]
gate = phase | page["payload of a gate, besides these"]
seen, bad = {"phase": set(), "notify": set()}, []
for path in glob.glob(sys.argv[2] + "/*.json"):
    m = json.load(open(path))
    known = gate if m["payload"].get("phase_type") == "gate" else phase
    known = page["payload of a notification"] if m["type"] == "notify" else known
    bad += [path + ": " + k for k in set(m) ^ page["MESSAGE"]]
    bad += [path + ": payload." + k for k in set(m["payload"]) - known]
    seen[m["type"]] |= set(m["payload"])
# hug, which reads review, is not in this version; a woken agent gets identity and upto (wake.bats)
bad += ["no message has payload." + k for k in gate - seen["phase"] - {"review"}]
bad += ["no message has payload." + k for k in page["payload of a notification"] - seen["notify"] - {"identity", "upto"}]
assert not bad, bad
END
}

@test "an agent's environment has the variables that the page lists, and no other" {
    talk
    local listed
    listed=$(fields protocol.7 ENVIRONMENT | grep -vxE 'CLIQ_IDENTITY|CLIQ_WAKE' | sorted)
    is "$listed" "$(sed 's/=.*//' "$T/env.work" | grep -vxE 'PWD|SHLVL|OLDPWD|_' | cat - <(printf '%s\n' LANG TMPDIR) | sort -u | paste -sd' ')"
}

@test "status lines and handoffs of the SDK have the members that the page lists" {
    PATH=$BIN:$PATH
    agent a <<'END'
eval "$(cliq sdk begin --trap <"$T/message.$P.$N")"
cliq sdk progress half
cliq sdk notify half nobody:ops
cliq sdk send --data '{}' text
if [ "$P" = two ]; then cliq sdk fail "no good"; else cliq sdk complete '{}'; fi
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}, {name: three, agent: a, depends_on: [two]}]'
    run_is 3
    is "$(fields protocol.7 'STATUS LINES' | sort -u | paste -sd' ')" "$(cat .cliq/signals/{one,two}.jsonl | $PY -c 'import json,sys
lines = [json.loads(l) for l in sys.stdin]
print(*sorted({k for l in lines for k in l} | {l["status"] for l in lines}))')"
    is "$(fields protocol.7 HANDOFFS | sorted)" "$(json .cliq/channels/one--two/handoff.json '" ".join(sorted(d))')"
}

# ---- manifest and settings -----------------------------------------------------------

@test "the example of a manifest has every member, and an agent with it runs" {
    examples manifest.5
    is "$(fields manifest.5 MANIFEST.JSON | sorted)" "$(json "$T/ex/1/manifest.json" '" ".join(sorted(d))')"
    is "$(fields manifest.5 settings | sorted)" "$(json "$T/ex/1/manifest.json" '" ".join(sorted(d["settings"]))')"
    is "notify phase:gate phase:standard phase:team test" "$(fields manifest.5 capabilities | sorted)"
    mkdir -p "$CLIQ_HOME/agents/translator"
    cp "$T/ex/1/manifest.json" "$CLIQ_HOME/agents/translator/"
    cat >"$CLIQ_HOME/agents/translator/agent.sh" <<END
cat >$T/message
echo '{"status":"complete"}' >>\$CLIQ_STATE_DIR/signals/\$CLIQ_PHASE.jsonl
END
    is "$(fields manifest.5 schema | sorted)" "$(json "$T/ex/1/manifest.json" '" ".join(sorted({k for f in d["schema"].values() for k in f}))')"
    team <<<'phases: [{name: one, agent: translator, language: de}]'
    got team validate "$T/team"
    is "" "$err"
    code_is 0
    cliq settings agents.translator '{"api_key":"k","language":"fr","other":1}'
    run_ok
    is "['api_key', 'language']" "$(json "$T/message" 'sorted(d["settings"])')"
    # every member is checked: a number is wrong for each
    local key
    for key in $(fields manifest.5 MANIFEST.JSON); do
        $PY -c 'import json,sys
d = json.load(open(sys.argv[1]))
d[sys.argv[2]] = 1
json.dump(d, open(sys.argv[3], "w"))' "$T/ex/1/manifest.json" "$key" "$CLIQ_HOME/agents/translator/manifest.json"
        got run --headless --force
        has "$err" "$key must be "
    done
}

@test "agents.json is as the page shows it" {
    examples manifest.5
    agent translator <<<complete
    AGENTS='  translator: {entry: agents/translator/agent.sh, env: [HTTPS_PROXY]}
'
    team <<<'phases: [{name: one, agent: translator}]'
    is "$(json "$T/ex/2/agents.json" d)" "$(json .cliq/agents.json d)"
}

@test "the page of the settings lists the keys of settings --info, and its example is accepted" {
    is "$(cliq settings --info --json | $PY -c 'import json,sys; print(*sorted(r["key"] for r in json.load(sys.stdin)))')" \
        "$(fields settings.5 KEYS | LC_ALL=C sort | paste -sd' ')"
    examples settings.5
    team <<<'phases: [{name: one, agent: exec, commands: [{name: t, run: "true"}]}]'
    cp "$T/ex/1/settings.json" .cliq/settings.json
    got settings
    succeeds
    has "$out" '"command_timeout": "5m"'
    lacks "$out" ': "secret"'
    lacks "$out" hooks
    lacks "$out" whsec_
    sed -i 's/1048576/"many"/' .cliq/settings.json
    got settings
    refused 2 "agents.curl.max_bytes must be"
}

@test "the team.yml in the README validates" {
    mkdir -p "$T/bin" && printf '#!/bin/sh\n' >"$T/bin/claude" && chmod +x "$T/bin/claude"
    PATH=$T/bin:$PATH
    $PY - "$ROOT/README.md" "$T/team" <<'END'
import os, re, sys
text = open(sys.argv[1]).read()
for name, block in re.findall(r"`([a-z/]+\.(?:yml|md))`:\n\n```[a-z]*\n(.*?)```", text, re.S):
    os.makedirs(os.path.dirname(os.path.join(sys.argv[2], name)) or ".", exist_ok=True)
    open(os.path.join(sys.argv[2], name), "w").write(block)
END
    got team validate "$T/team"
    is "" "$err"
    code_is 0
    grep -qE 'agent: (claude-code|codex|gemini|cursor|opencode|claude-api|openai-api)' "$T/team/team.yml"
}
