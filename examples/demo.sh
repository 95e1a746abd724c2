#!/bin/sh
# make demo: architect (C) -> developer (Python) -> reviewer (sh, a gate). The tests of
# a small project fail first; the gate routes back to the developer, and the second try passes.
# Then a room: engineer -> security -> qa, whose first review fails.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$here" && cd "${BUILD:-build}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/cliq-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PATH="$build:$PATH" CLIQ_HOME="$work/home"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

cp -r "$here/examples/pipeline/team" "$here/examples/pipeline/project" "$work"
${CC:-cc} -std=c11 -O1 -I"$here/include" -o "$work/team/agents/architect/agent" \
    "$work/team/agents/architect/agent.c" "$build/libcliq.a" -lpthread
cd "$work/project"

say "cliq init && cliq assemble ../team && cliq req -m 'A shell function add A B that prints the sum'"
cliq init
cliq assemble ../team
cliq req -m "A shell function add A B that prints the sum" --key DEMO-1
say cliq graph
cliq graph
say cliq run
cliq run --headless
say cat .cliq/channels/reviewer--developer/handoff.json
cat .cliq/channels/reviewer--developer/handoff.json
say cat .cliq/channels/developer--reviewer/handoff.json
cat .cliq/channels/developer--reviewer/handoff.json
echo
say cat .cliq/signals/reviewer.jsonl
cat .cliq/signals/reviewer.jsonl
say cat .cliq/signals/_pipeline_status
cat .cliq/signals/_pipeline_status
echo
say cliq status
cliq status

# The second act: a room of three roles. The review fails once, the work is fixed, it passes and is signed off.
cp -r "$here/examples/rooms" "$work/roles"
for role in engineer security qa; do
    cliq settings "roles.$role.command" "sh '$work/roles/$role.sh'" >/dev/null
done
say "cliq room create room-001 --ref EPIC-001 --roles engineer,security,qa -m 'A shell function greet NAME; without a name it greets the world'"
cliq room create room-001 --ref EPIC-001 --roles engineer,security,qa \
    -m "A shell function greet NAME; without a name it greets the world"
say cliq room run
cliq room run
for role in engineer security qa; do
    say "cliq room signoff room-001 --from $role -m 'Approved.'"
    cliq room signoff room-001 --from "$role" -m "Approved."
done
say cliq room status room-001
cliq room status room-001
say cat .war-rooms/RELEASE.md
cat .war-rooms/RELEASE.md
printf '\nNow try it yourself: build/cliq team new my-team, and cliq help. Another demo: examples/war-room.sh\n'
