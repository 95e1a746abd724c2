#!/bin/bash
# make demo-agents: claude plans, codex writes, gemini judges: the real programs, with a scripted
# model on 127.0.0.1 in place of their makers'. No key is needed, and nothing leaves this machine.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/cliq-demo.XXXXXX")
trap 'kill "$model" 2>/dev/null || true; rm -rf "$work"' EXIT
build=$(cd "$here" && cd "${BUILD:-build}" && pwd)
programs=${CLIQ_AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-agents}/bin
export PATH="$build:$programs:$PATH" HOME="$work/home" CLIQ_HOME="$work/home/.cliqrc"
mkdir -p "$HOME" "$work/team/roles" "$work/project" "$work/llm"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

file=$work/project/greet.sh
cat >"$work/llm/script.json" <<END
[{"when":"You are the architect","turns":[
   {"text":"A shell script greet.sh that greets its argument.\n\n\`\`\`json\n{\"file\":\"greet.sh\"}\n\`\`\`"}]},
 {"when":"You are the developer","turns":[
   {"write":"$file","content":"echo hello\n"}, {"text":"I wrote greet.sh."},
   {"write":"$file","content":"echo \"hello, \$1\"\n"}, {"text":"It greets its argument now."}]},
 {"when":"You are the reviewer","turns":[
   {"text":"The test fails.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"developer\"},\"comment\":\"greet.sh ignores its argument\"}\n\`\`\`"},
   {"text":"The test passes.\n\n\`\`\`json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"it greets\"}\n\`\`\`"}]}]
END
node "$here/test/agents/llm.mjs" "$work/llm" &
model=$!
until [ -s "$work/llm/port" ]; do
    kill -0 $model 2>/dev/null || { echo "the scripted model did not start: see above" >&2; exit 1; }
    sleep 0.05
done
url=http://127.0.0.1:$(cat "$work/llm/port")

cat >"$work/team/team.yml" <<'END'
name: "@local/three-makers"
description: claude plans, codex writes, gemini judges
phases:
  - { name: architect, agent: claude-code }
  - { name: developer, agent: codex, model: scripted, depends_on: [architect] }
  - name: reviewer
    type: gate
    agent: gemini
    model: gemini-2.5-flash
    depends_on: [developer]
    max_iterations: 3
    commands:
      - { name: greets, run: 'test "$(sh greet.sh ann)" = "hello, ann"' }
END
for p in architect developer reviewer; do echo "You are the $p of a small team." >"$work/team/roles/$p.md"; done
cd "$work/project"

say cat ../team/team.yml
cat ../team/team.yml
say "cliq init && cliq assemble ../team && cliq req -m 'A script that greets'"
cliq init
cliq assemble ../team
cliq req -m "A script that greets"
cliq settings agents.claude-code.base_url "$url" >/dev/null
cliq settings agents.codex.base_url "$url/v1" >/dev/null
cliq settings agents.gemini.base_url "$url" >/dev/null
for a in claude-code codex gemini; do cliq settings "agents.$a.api_key" "no-key-is-needed-here" >/dev/null; done
say cliq run
cliq run --headless
say cat greet.sh
cat greet.sh
say cat .cliq/channels/reviewer--developer/handoff.json
cat .cliq/channels/reviewer--developer/handoff.json
say cliq status
cliq status
printf '\nWith your own sign-in there is nothing to set: name the agents in team.yml, and cliq run.\n'
