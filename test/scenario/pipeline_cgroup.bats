#!/usr/bin/env bats
# Processes that left their session, parents and environment behind are found by their cgroup, also
# by an orchestrator that never was an ancestor of theirs (src/proc/cgroup.h).
load pipeline

MOUNT=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
HOME_GROUP=$MOUNT$(sed -n 's/^0:://p' /proc/self/cgroup)

needs_groups() {
    local probe=$HOME_GROUP/probe-$$
    [ -n "$MOUNT" ] && mkdir "$probe" 2>/dev/null && rmdir "$probe" || skip "no cgroup can be made here"
}

# The groups of this test's attempts that are still there.
groups() {
    local a group
    find "$T" -path '*/run/attempts/*' -type l -printf '%l\n' | cut -s -d' ' -f4- | sort -u |
        while read -r group; do [ ! -d "$MOUNT$group" ] || echo "$group"; done
}
# None is there, and all attempts had one.
tidy() {
    ! find "$T" -path '*/run/attempts/*' -type l -printf '%l\n' | grep -qv ' /.*cliq-[0-9-]*$' &&
        [ -z "$(groups)" ]
}

leave() {
    cat <<'END'
ok
mkfifo "$T/there.$$"
env -i setsid setsid /bin/sh -c "echo >$T/left; echo >$T/there.$$; exec sleep $NAP" >/dev/null 2>&1 &
read -r _ <"$T/there.$$"
END
}
# It does THEN when the one that it leaves behind has.
leaver() { # THEN
    agent a < <(leave && echo "$1")
    team <<<"phases: [{name: one, agent: a, timeout: 2s}]"
}

killed_run() {
    start_run run
    until_true exists "$T/left"
    until_true left_one
    kill -KILL "$PID"
    until_true gone "$PID"
}
left_one() { [ -n "$(left)" ]; }

@test "after a killed orchestrator, a timeout stops whoever cleared its environment" {
    needs_groups
    leaver "sleep $NAP"
    killed_run
    run_is 3 --resume
    status_is ESCALATED
    none_left || complain "left: $(left)"
    tidy || complain "groups: $(groups)"
}

@test "the same when the agent itself is gone by then" {
    needs_groups
    leaver "await gate"
    hold gate
    killed_run
    release gate
    until_true gone "$(readlink .cliq/run/attempts/one.1 | cut -d' ' -f1)"
    run_is 3 --resume
    none_left || complain "left: $(left)"
    tidy || complain "groups: $(groups)"
}

@test "and so does cliq cancel" {
    needs_groups
    leaver "sleep $NAP"
    killed_run
    got cancel
    code_is 0
    status_is CANCELLED
    none_left || complain "left: $(left)"
    tidy || complain "groups: $(groups)"
}

@test "and a run that is begun anew" {
    needs_groups
    leaver "sleep $NAP"
    killed_run
    rm "$T/left"
    run_is 3 --force
    none_left || complain "left: $(left)"
    tidy || complain "groups: $(groups)"
}

@test "an ordinary run leaves no cgroup, whoever its agents are" {
    needs_groups
    agent a <<<'ok; grep ^0:: /proc/self/cgroup; complete'
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "grep ^0:: /proc/self/cgroup"}]}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "grep ^0:: /proc/self/cgroup"}]}
  - {name: three, agent: a, depends_on: [two]}
  - {name: four, agent: script, depends_on: [two], retries: 1, commands: [{name: go, run: "exit 1"}]}
END
    run_is 3
    local p
    for p in one two three; do # each was where its attempt file says
        has "$(<.cliq/run/logs/$p.1.log)" "0::$(readlink .cliq/run/attempts/$p.1 | cut -d' ' -f4-)"
    done
    tidy || complain "groups: $(groups)"
}

@test "who is left in an attempt's cgroup is stopped, and the next phase is not" {
    needs_groups
    team <<END
phases:
  - {name: two, agent: exec, commands: [{name: go, run: "mkfifo $T/there; env -i setsid setsid sh -c 'echo \$\$ >$T/left; echo >$T/there; exec sleep $NAP' >/dev/null 2>&1 & read -r _ <$T/there"}]}
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "tail -f -s 0.01 --pid=\$(cat $T/left) /dev/null; echo x >>$T/three"}]}
END
    run_ok
    none_left || complain "left: $(left)"
    is x "$(<"$T/three")"
    tidy || complain "groups: $(groups)"
}

@test "where cgroups cannot be written a run is as it was" {
    needs_groups
    unshare --mount true 2>/dev/null || skip "no mount namespace can be made here"
    agent a < <(leave && echo complete)
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: two, agent: a, depends_on: [one]}
END
    got_from unshare --mount sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"' \
        - "$MOUNT" "$CLIQ" run --headless
    code_is 0
    is "" "$err"
    none_left || complain "left: $(left)"
    like "$(readlink .cliq/run/attempts/two.1)" '^[0-9]+ [0-9]+ [0-9a-f-]+$'
}
