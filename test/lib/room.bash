# room.bash - helpers for tests of `cliq room run`; load it after cli.bash. setup makes a project, so that
# settings of its roles can be set.
#
#   role NAME <<'END'       its command; each start is a line "NAME" of $T/starts
#   a_room NAME [OPTIONS]   a room with the reference of its name
#   types ROOM              the types of its messages, in order
#   talk ROOM               "from>to:type" of each
eval "room_lib_$(declare -f setup)"

setup() {
    room_lib_setup
    mkdir .cliq
    : >"$T/starts"
}

json() { $PY -c "import json,sys; d=json.load(sys.stdin); print($1)"; }
role() {
    { echo "echo $1 >>'$T/starts'"; cat; } >"$T/role-$1"
    cliq settings "roles.$1.command" ". '$T/role-$1'" >/dev/null
}
a_room() { cliq room create "$1" --ref "${REF:-$1}" -m "Do $1" "${@:2}" >/dev/null; }
types() { cliq channel read --room "$1" | json '" ".join(m["type"] for m in d)'; }
talk() { cliq channel read --room "$1" | json '" ".join("%s>%s:%s" % (m["from"], m["to"], m["type"]) for m in d)'; }
state() { cat ".war-rooms/$1/status"; }
starts() { sort "$T/starts" | uniq -c | awk '{print $2 "=" $1}' | paste -sd' '; }
a_manager() { start manager "$CLIQ" room run "$@"; }
# The manager has told this.
told() { grep -q -- "$1" "$T/manager.out" "$T/manager.err"; }

# A worker, and a reviewer that fails the first review.
three_roles() {
    role engineer <<'END'
cat >/dev/null
echo "did it"
END
    role qa <<'END'
cat >/dev/null
[ -e "$T/failed.$CLIQ_ROOM" ] && echo "VERDICT: PASS" && exit
: >"$T/failed.$CLIQ_ROOM"
echo "no test"
echo "VERDICT: FAIL"
END
}
