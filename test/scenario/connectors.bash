# connectors.bash - a service of test/services and a team whose phases speak to it: load it at the
# top of a connector's bats file.
#
#   service NAME        starts test/services/NAME.py; $URL is its address
#   setting KEY VALUE   sets agents.NAME.KEY
#   phase YAML          a team with the phase "move" of these fields, and "next", which reads its
#                       handoff; runs it: $code, $out, $err
#   fetches ACTION {ENTRY}…, delivers ACTION {ENTRY}…   phase with that action and these entries
#   works, fails PART…  it completed; it failed, and its error line has these parts
#   handoff KEY…        a member of the handoff's data
#   asked N KEY…        of the N-th request (from 1); n_asked
load ../lib/cli

service() {
    NAME=$1
    start service "$PY" "$ROOT/test/services/$1.py"
    until_true test -e "$T/port"
    URL=http://127.0.0.1:$(<"$T/port")
    mkdir -p "$T/team"
    got init
    code_is 0
}
setting() { "$CLIQ" settings "agents.$NAME.$1" "$2" >"$T/set" 2>&1 || complain "$(<"$T/set")"; }
phase() {
    printf 'name: "@local/move"\ndescription: a connector at work\nphases:\n  - name: move\n    agent: %s\n' "$NAME" >"$T/team/team.yml"
    sed 's/^/    /' >>"$T/team/team.yml"
    cat >>"$T/team/team.yml" <<'EOF2'
  - { name: next, agent: exec, depends_on: [move], commands: [{ name: ok, run: "true" }] }
EOF2
    got assemble "$T/team"
    code_is 0 || return 1
    got req -m "move it"
    got run --headless
}
fetches() { phase < <(printf '%s\n' "action: $1" "sources:" "${@:2}" | sed 's/^{/  - {/'); }
delivers() { phase < <(printf '%s\n' "action: $1" "target_entries:" "${@:2}" | sed 's/^{/  - {/'); }
signals() { cat .cliq/signals/move.jsonl; }
works() { code_is 0 && has "$(signals)" '"status":"complete"'; }
fails() {
    [ "$code" != 0 ] || complain "it completed" || return 1
    local part
    for part in "$@"; do has "$(grep '"status":"error"' .cliq/signals/move.jsonl)" "$part" || return 1; done
}
field() { "$PY" -c 'import json,sys
v=json.load(open(sys.argv[1]))
for k in sys.argv[2:]: v=v[int(k) if isinstance(v,list) else k]
print(v if isinstance(v,str) else json.dumps(v))' "$@"; }
handoff() { field .cliq/channels/move--next/handoff.json data "$@"; }
asked() { sed -n "$1p" "$T/requests" >"$T/one"; field "$T/one" "${@:2}"; }
# asked_body N KEY…: a member of the N-th request's body, which is JSON.
asked_body() { asked "$1" body >"$T/body" && field "$T/body" "${@:2}"; }
n_asked() { wc -l <"$T/requests"; }
# in_no_file WORD…: the words are in no output and in no file of .cliq but the settings.
in_no_file() {
    local word
    for word in "$@"; do
        lacks "$(cat "$T/out" "$T/err")" "$word" || return 1
        [ -z "$(grep -rlF -e "$word" .cliq --exclude=settings.json --exclude-dir=messages)" ] ||
            complain "$word in $(grep -rlF -e "$word" .cliq --exclude=settings.json --exclude-dir=messages)" || return 1
    done
}
