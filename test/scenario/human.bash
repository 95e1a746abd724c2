# human.bash - a team with a gate that two people decide; load it after pipeline.bash.

# human_team [FIELDS]: build writes work.txt, accept asks ann (by the notifier herald) and bob, ship
# comes after it. $T/told has what herald was told.
human_team() {
    agent w <<'END'
ok
[ "$P" != build ] || echo "work $N" >"$CLIQ_PROJECT_DIR/work.txt"
complete
END
    agent herald <<'END'
{ cat; echo; } >>"$T/told"
END
    team <<END
phases:
  - {name: plan, agent: w}
  - {name: build, agent: w, depends_on: [plan]}
  - {name: accept, type: gate, agent: hug, depends_on: [build],
     review: {reviewer: ["herald:ann", bob], artifacts: ["*.txt"]${1:+, $1}}}
  - {name: ship, agent: w, depends_on: [accept]}
END
}
# Starts the run and waits until its gate has asked.
asks() {
    start_run run
    RUN=$PID
    waits 1
}
# Until the reviewers of the gate's N-th attempt were told.
waits() {
    until_true is_asked "$1" || { cat "$T"/*.out "$T"/*.err >&2; return 1; }
    ID=$(cd .cliq/reviews && echo accept-"$1"-*.json)
    ID=${ID%.json}
}
is_asked() { grep -q told_ms .cliq/reviews/accept-"$1"-*.json 2>/dev/null; }
hug_pids() { # of this test's project
    local p
    for p in $(pgrep -f "agent hug"); do
        [ "$(readlink "/proc/$p/cwd")" != "$T/proj" ] || echo "$p"
    done
}
tasks() { "$CLIQ" signal list --type task --json | $PY -c 'import json,sys; print(" ".join(sorted(s["to_identity"]+":"+s["task_status"] for s in json.load(sys.stdin))))'; }
review() { "$CLIQ" review show "$ID" --json >"$T/review.json" && json "$T/review.json" "$1"; }
