#!/usr/bin/env bats
# Help, man pages, completion, the libraries and the installation: generated from one
# table, so they must agree, and an error about wrong usage must say what to do. The
# list of commands comes from `cliq help --all` itself, so a new command is tested too.
load ../lib/cli

# each_command FUNCTION: calls it for every command of `cliq help --all`, name in $1. Not on the
# left of ||: there, bash goes on behind a line of the function that failed.
each_command() {
    local name count=0
    while read -r name; do
        echo "cliq $name" # shown when it fails
        "$1" "$name"
        count=$((count + 1))
    done < <(cliq help --all | sed -n '/^Usage:/,/^Topics:/s/^  \([a-z -]*[a-z]\)   *.*/\1/p')
    [ $count -ge 9 ]
}

# help_of NAME: its --help. That and the rendered pages are cached for this file.
help_of() {
    local f="$BATS_FILE_TMPDIR/help-$1"
    [ -e "$f" ] || cliq $1 --help >"$f"
    cat "$f"
}
# usage_of NAME: sets REQUIRED (required options), WITH_VALUE ("--last N"),
# FLAGS and WORDS (one argument for each possible word), from the line "Usage:".
usage_of() {
    local f="$BATS_FILE_TMPDIR/usage-$1"
    if [ -e "$f" ]; then
        source "$f"
        return
    fi
    read_usage "$1"
    declare -p REQUIRED WITH_VALUE FLAGS WORDS MANY | sed 's/^declare -a /declare -ga /; s/^declare -- /declare -g /' >"$f"
}
read_usage() {
    local line word value='[^][ ]+'
    line=$(help_of "$1" | sed -n 's/^Usage: //p')
    line=${line#cliq $1}
    REQUIRED=()
    for word in $(sed 's/\[[^]]*\]//g' <<<"$line" | grep -oE -e "--[a-z-]+ $value" | sed 's/ .*//'); do
        case $word in
        --room) REQUIRED+=(--room r) ;;
        --type) REQUIRED+=(--type done) ;;
        *) REQUIRED+=("$word" x) ;;
        esac
    done
    mapfile -t WITH_VALUE < <(grep -oE -e "--[a-z-]+ $value" <<<"$line")
    mapfile -t FLAGS < <(grep -oE -e '\[--[a-z-]+\]' <<<"$line" | tr -d '[]')
    WORDS=()
    MANY=
    for word in $(sed -E "s/\[--[a-z-]+( $value)?\](\.\.\.)?//g; s/--[a-z-]+ $value//g" <<<"$line"); do
        case $word in
        *...) MANY=1 ;;
        esac
        case $word in
        FILE...) echo '{}' >"$BATS_FILE_TMPDIR/file" && WORDS+=("$BATS_FILE_TMPDIR/file") ;;
        *'|'*) word=${word#[} && WORDS+=("${word%%|*}") ;;
        *) WORDS+=(x) ;;
        esac
    done
    [ "$1" != help ] || WORDS=()
}
options_in_help() { help_of "$1" | sed -nE '/^Options:/,/^$/s/^  (-[a-zA-Z], )?(--[a-z-]+).*/\2/p' | sort; }
page_of() { printf '%s/man/cliq-%s.1' "$BIN" "${1// /-}"; }
render() {
    local f=$BATS_FILE_TMPDIR/${1##*/}.text
    [ -e "$f" ] || mandoc -Tutf8 -O width=1000 "$1" | col -bx >"$f"
    cat "$f"
}

# ---- every command -----------------------------------------------------------------

@test "every command has --help and -h: exit 0, on standard output" {
    check() {
        local flag
        for flag in --help -h; do
            got $1 $flag
            succeeds
            has "$out" "cliq $1 - "
            has "$out" $'\n\nUsage: cliq '"$1"
            has "$out" "-h, --help"
        done
    }
    each_command check
}

@test "--help wins over any other error" {
    check() {
        got $1 --help --no-such-option
        succeeds
    }
    each_command check
}

@test "cliq help COMMAND is COMMAND --help" {
    check() {
        got help $1
        succeeds
        # settings is a topic, too, which follows
        is "$(cliq $1 --help)" "$(sed '/^settings - /,$d' "$T/out")"
    }
    each_command check
}

@test "every command refuses an unknown option and says where help is" {
    check() {
        usage_of "$1"
        local bad
        for bad in --no-such-option -Z --no-such=value; do
            got $1 "${REQUIRED[@]}" "${WORDS[@]}" $bad
            refused 2 "unknown option ${bad%%=*}" "Try 'cliq $1 --help'."
        done
    }
    each_command check
}

@test "every option that takes a value refuses to be without one, and shows its form" {
    check() {
        usage_of "$1"
        local option
        for option in "${WITH_VALUE[@]}"; do
            got $1 "${REQUIRED[@]}" "${WORDS[@]}" "${option% *}"
            refused 2 "${option% *} needs a value: $option" "Try 'cliq $1 --help'."
        done
    }
    each_command check
}

@test "every flag refuses a value" {
    check() {
        usage_of "$1"
        local option
        for option in "${FLAGS[@]}"; do
            got $1 "${REQUIRED[@]}" "${WORDS[@]}" "$option=x"
            refused 2 "$option takes no value"
        done
    }
    each_command check
}

@test "every missing required option is named" {
    check() {
        usage_of "$1"
        local i
        for ((i = 0; i < ${#REQUIRED[@]}; i += 2)); do
            got $1 "${REQUIRED[@]:0:i}" "${REQUIRED[@]:i+2}" "${WORDS[@]}"
            refused 2 "${REQUIRED[i]} " "is missing" "Try 'cliq $1 --help'."
        done
    }
    each_command check
}

@test "an option given twice is refused unless it may be repeated" {
    check() {
        usage_of "$1"
        local option usage
        usage=$(cliq $1 --help | sed -n 's/^Usage: //p')
        for option in "${WITH_VALUE[@]}"; do
            case $usage in *"[$option]..."*) continue ;; esac
            got $1 "${REQUIRED[@]}" "${WORDS[@]}" "${option% *}" 1 "${option% *}" 1
            refused 2 "${option% *} was given twice"
        done
    }
    each_command check
}

@test "every command refuses an extra argument" {
    check() {
        usage_of "$1"
        local extra=(extra)
        [ -z "$MANY" ] || return 0
        [ "$1" != help ] || extra=(version extra)
        got $1 "${REQUIRED[@]}" "${WORDS[@]}" "${extra[@]}"
        refused 2 'unexpected argument "extra"' "--help'."
    }
    each_command check
    got help exit-codes extra
    refused 2 'unexpected argument "extra"'
    got help channel post extra
    refused 2 'unexpected argument "extra"'
}

@test "every command that takes a room refuses a wrong name" {
    check() {
        usage_of "$1"
        case "${REQUIRED[*]}" in *--room*) ;; *) return 0 ;; esac
        got $1 "${REQUIRED[@]/#r/..}"
        refused 2 'bad room name ".."' "A-Z a-z 0-9"
    }
    each_command check
}

@test "every misspelt option gets a suggestion" {
    check() {
        usage_of "$1"
        local option name wrong
        for option in "${WITH_VALUE[@]% *}" "${FLAGS[@]}"; do
            [ -n "$option" ] || continue
            name=${option#--}
            wrong=--${name:1:1}${name:0:1}${name:2}
            [ "$wrong" != "$option" ] || continue # --ttl
            got $1 "$wrong" x
            refused 2 "unknown option $wrong (did you mean $option?)"
        done
    }
    each_command check
}

@test "every misspelt command gets a suggestion" {
    check() {
        local last=${1##* } first=""
        [ "$last" = "$1" ] || first="${1% *} "
        got $first${last:1:1}${last:0:1}${last:2}
        refused 2 "unknown command" "(did you mean \"$1\"?)" "--help'."
    }
    each_command check
    got chanel post
    refused 2 'unknown command "chanel" (did you mean "channel"?)'
    got help chanel
    refused 2 'did you mean "channel"?'
    got subscribe
    refused 2 'unknown command "subscribe" (did you mean "signal subscribe"?)'
    got create
    refused 2 '(did you mean "room create", "key create"?)'
    got zzzzzzzzz
    refused 2 'unknown command "zzzzzzzzz"' "Try 'cliq --help'."
}

@test "invalid numbers are refused" {
    local n
    for n in -1 x 1.5 "" 1x 99999999999999999999; do
        got channel read --room r --last="$n"
        refused 2 "--last needs a whole number, 0 or more, not \"$n\""
    done
}

@test "a value may follow = or be the next word, and -- ends the options" {
    post r x >/dev/null
    is x "$(bodies r --type=done --last=1)"
    got fsck -- --json
    refused 4 "no file --json"
}

# ---- help itself -------------------------------------------------------------------

@test "a group without a command shows its list on standard error: exit 2" {
    got channel
    code_is 2
    is "" "$out"
    has "$err" "Usage: cliq channel COMMAND"
}

@test "cliq --help, -h and help are the same list" {
    got --help
    succeeds
    cp "$T/out" "$T/first"
    got -h
    cmp "$T/first" "$T/out"
    got help
    cmp "$T/first" "$T/out"
    is "Start here: Pipelines: Rooms: Signals and tasks: Administration: Topics:" "$(grep -E '^[A-Z][a-z ]*:$' "$T/out" | paste -sd' ')"
    lacks "$out" "agent exec"
    lacks "$out" "sdk begin"
    has "$out" "channel ...        talk in a war-room's channel
                     post, read, wait, follow, rooms"
    got help --all
    succeeds
    has "$out" "Called by programs:"
    has "$out" "sdk begin"
    has "$out" "agent exec"
    got channel --help
    succeeds
    has "$out" "channel post "
    lacks "$out" "fsck"
}

@test "cliq refuses an unknown option of its own" {
    got --no-such
    refused 2 "unknown option --no-such" "Try 'cliq --help'."
}

@test "help exit-codes lists them all, and the man page the same" {
    got help exit-codes
    succeeds
    is "0 1 2 3 4 5 6 7 74 130" "$(sed -n 's/^ *\([0-9][0-9]*\)  .*/\1/p' "$T/out" | paste -sd' ')"
    is "0 1 2 3 4 5 6 7 74 130" "$(render "$BIN/man/cliq.1" | sed -n '/^EXIT STATUS/,/^SEE/s/^ *\([0-9][0-9]*\)$/\1/p' | paste -sd' ')"
}

@test "help environment names every variable that cliq reads" {
    local name
    got help environment
    succeeds
    for name in WARROOMS_DIR CLIQ_HOME CLIQ_IDENTITY CLIQ_URL CLIQ_KEY NO_COLOR CLICOLOR_FORCE FORCE_COLOR; do
        has "$out" "$name"
        has "$(render "$BIN/man/cliq.1")" "$name"
    done
}

@test "--version, -V and version say what cliq.h says" {
    local want
    want="cliq $(sed -n 's/^#define CLIQ_VERSION  *"\(.*\)"/\1/p' "$ROOT/include/cliq.h")"
    local words
    for words in --version -V version; do
        got $words
        succeeds
        is "$want" "$out"
    done
}

@test "no line of the help is wider than a terminal, except usage and examples" {
    check() {
        local line
        line=$(help_of "$1" | sed '/^Usage:/d; /^Examples:/,$d' | awk 'length > 100')
        is "" "$line"
    }
    each_command check
}

# ---- man pages ---------------------------------------------------------------------

need_pages() { command -v scdoc >/dev/null || skip "no man pages without scdoc"; }

@test "every command has a man page with its brief" {
    need_pages
    check() {
        local brief
        brief=$(help_of "$1" | sed -n "1s/^cliq $1 - //p")
        has "$(render "$(page_of "$1")")" "cliq-${1// /-} - $brief"
        has "$(render "$BIN/man/cliq.1")" "$brief"
    }
    each_command check
}

@test "SYNOPSIS of every man page is Usage of --help" {
    need_pages
    check() {
        is "$(help_of "$1" | sed -n 's/^Usage: //p')" "$(render "$(page_of "$1")" | sed -n '/^SYNOPSIS/,/^DESCRIPTION/s/^  *//p')"
    }
    each_command check
}

@test "OPTIONS of every man page are the options of --help, with their explanations" {
    need_pages
    check() {
        local page
        page=$(render "$(page_of "$1")" | sed -n '/^OPTIONS/,/^[A-Z]/p; /^OPTIONS/,/^EXIT/p')
        is "$(options_in_help "$1" | paste -sd' ')" "$(grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' <<<"$page" | grep -o -e '--.*' | sort -u | paste -sd' ')"
        local says
        while read -r says; do
            has "$page" "$says"
        done < <(help_of "$1" | sed -nE '/^Options:/,/^$/s/^  (-[a-zA-Z], )?--[a-z-]+( [^ ]+)? {2,}([^ ].*)/\3/p' | grep -v '^show this help$')
    }
    each_command check
}

@test "every word of a command's help is in its man page" {
    need_pages
    check() {
        local about
        about=$(help_of "$1" | sed '1,/^  -h, --help/d; /^Examples:/,$d' | tr -s '\n ' ' ')
        has "$(render "$(page_of "$1")" | tr -s '\n ' ' ')" "${about# }"
    }
    each_command check
}

@test "every example of a command's help is in its man page, line for line" {
    need_pages
    check() {
        local line page
        page=$(render "$(page_of "$1")")
        while read -r line; do
            has "$page" "$line"
        done < <(help_of "$1" | sed '1,/^Examples:/d; s/^  //')
    }
    each_command check
}

@test "mandoc finds nothing wrong with any page" {
    need_pages
    # scdoc writes a .P before and after everything; mandoc says that it skips them.
    is "" "$(mandoc -Tlint -Wwarning "$BIN"/man/* | grep -vE 'WARNING: skipping paragraph macro: (PP|P) (empty|after S[HS])')"
}

@test "every page can be shown by man" {
    need_pages
    local page
    for page in "$BIN"/man/*; do
        MANWIDTH=80 man -l "$page" >"$T/out" 2>"$T/err"
        is "" "$(<"$T/err")"
        [ "$(wc -l <"$T/out")" -gt 10 ]
    done
}

@test "every page that another page names exists" {
    need_pages
    local name
    for name in $(cat "$BIN"/man/* | grep -oE '\\fBcliq[a-z\\-]*\\fR\([1357]\)' | tr -d '\\' | sed 's/fB\(.*\)fR(\(.\))/\1.\2/' | sort -u); do
        [ -e "$BIN/man/$name" ] || complain "no page $name"
    done
}

# ---- completion --------------------------------------------------------------------

# completes WORDS... WANT: the completions of the last word, on one line.
offers() {
    local want=${*: -1}
    is "$want" "$(cliq complete -- "${@:1:$#-1}" | cut -f1 | sort | paste -sd' ')"
}

@test "completion offers exactly the options of --help, for every command" {
    check() {
        is "$(options_in_help "$1" | paste -sd' ')" "$(cliq complete -- $1 -- | cut -f1 | sort | paste -sd' ')"
    }
    each_command check
}

@test "completion offers exactly the commands of help" {
    offers "" "$(cliq help --all | sed -n '/^Usage:/,/^Topics:/s/^  \([a-z-]*\).*/\1/p' | sort -u | paste -sd' ')"
    offers channel "" "follow post read rooms wait"
    offers channel po "post"
    offers ch "channel"
    offers nothing "" ""
}

@test "completion offers rooms and types for their options only" {
    post room-1 x >/dev/null
    post room-2 x >/dev/null
    echo '{}' >.war-rooms/config.json
    offers channel read --room "" "room-1 room-2"
    offers channel read --room room-2 "room-2"
    offers channel post --type p "pass plan-approve plan-reject plan-review progress"
    offers channel read --last "" ""
    offers channel read --room room-1 --ro ""
    offers channel read --type done --ty "--type"
}

@test "completion works in a bash" {
    post room-1 x >/dev/null
    PATH=$BIN:$PATH bash --norc -c '
        set -eu
        source <(cliq completion bash)
        tab() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _cliq; echo "${COMPREPLY[*]}"; }
        tab cliq channel ""
        tab cliq channel read --room ""
        tab cliq channel read --la
        tab cliq channel post --type ta
        complete -p cliq' >"$T/out"
    is "post read wait follow rooms
room-1
--last
task
complete -o default -F _cliq cliq" "$(<"$T/out")"
}

# typed SHELL...: types keys into an interactive shell on a terminal until it answers.
typed() {
    PATH=$BIN:$PATH HISTFILE= $PY - "$@" <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen, deadline = "", time.time() + 30
def until(text):
    global seen
    while text not in seen:
        r = select.select([fd], [], [], max(0, deadline - time.time()))[0]
        try:
            data = os.read(fd, 65536).decode("utf-8", "replace") if r else ""
        except OSError:
            data = ""
        if not data:
            sys.exit(f"never saw {text!r} in:\n{seen}")
        seen += data
    seen = seen[seen.index(text) + len(text):]
def type_(keys):
    os.write(fd, keys.encode())
shell = os.path.basename(sys.argv[1])
until("READY>")
for line in ({"zsh": ["autoload -Uz compinit && compinit -u -D", "zstyle ':completion:*' menu no"], "bash": []}[shell]
             + [f"source <(cliq completion {shell})"]):
    type_(line + "\n")
    until("READY>")
type_("cliq chan\tpo\t--he\t\n")   # each tab completes its word and adds a space
until("Usage: cliq channel post --room")
until("READY>")
type_("cliq channel read --room roo\t --jsonl\n")
until('"body":"typed"')
until("READY>")
type_("exit\n")
os.waitpid(pid, 0)
END
}

@test "completion works at the tab key of an interactive bash" {
    post room-1 typed >/dev/null
    PS1='READY>' typed bash --norc --noprofile -i
}

@test "completion works at the tab key of an interactive zsh" {
    command -v zsh >/dev/null || skip "no zsh here"
    post room-1 typed >/dev/null
    PS1='READY>' TERM=dumb typed zsh -f -i
}

@test "completion works in a fish" {
    command -v fish >/dev/null || skip "no fish here"
    post room-1 x >/dev/null
    export PATH=$BIN:$PATH
    tab() { fish --no-config -c "cliq completion fish | source; complete -C '$1'" | cut -f1 | sort | paste -sd' '; }
    is "follow post read rooms wait" "$(tab 'cliq channel ')"
    is "--last" "$(tab 'cliq channel read --la')"
    is "room-1" "$(tab 'cliq channel read --room ')"
    is "task" "$(tab 'cliq channel post --type ta')"
}

@test "the completion scripts have valid syntax" {
    bash -n <(cliq completion bash)
    ! command -v zsh >/dev/null || zsh -n <(cliq completion zsh)
    ! command -v fish >/dev/null || cliq completion fish | fish --no-execute
    got completion tcsh
    refused 2 "choose bash, zsh or fish"
    got completion
    refused 2 "an argument is missing"
}

@test "completion never writes to standard error and never fails" {
    local words
    for words in "" "x y z" "channel" "channel post --room" "-- --" "--version" "channel read --room=r --"; do
        got complete -- $words
        succeeds
    done
}

# ---- libraries and installation ------------------------------------------------------

@test "libcliq.so exports the functions of cliq.h and nothing else" {
    is "$(sed -n 's/^CLIQ_API.*[ *]\(cliq_[a-z_]*\)(.*/\1/p' "$ROOT/include/cliq.h" | sort | paste -sd' ')" \
        "$(nm -D --defined-only "$BIN/libcliq.so" | awk '{print $3}' | sort | paste -sd' ')"
}

@test "libcliq.a defines no global name without the cliq prefix" {
    is "" "$(nm -g --defined-only "$BIN/libcliq.a" | awk 'NF == 3 {print $3}' | grep -v '^cliq_')"
    [ "$(nm -g --defined-only "$BIN/libcliq.a" | grep -c ' T cliq_')" -ge 5 ]
}

@test "cliq.h compiles as C99 and as C++" {
    echo '#include "cliq.h"' >"$T/a.c"
    cp "$T/a.c" "$T/a.cc"
    gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$ROOT/include" -fsyntax-only "$T/a.c"
    ! command -v g++ >/dev/null || g++ -Wall -Wextra -Werror -I"$ROOT/include" -fsyntax-only "$T/a.cc"
}

@test "the C example posts and reads" {
    [ -x "$BIN/examples/channel" ] || skip "examples are not built"
    got_from "$BIN/examples/channel" room-001 "Work complete"
    succeeds
    like "$out" $'^posted engineer-done-[0-9]+-[0-9]+\nengineer -> qa: Work complete$'
    is "Work complete" "$(bodies room-001)"
}

@test "the demo runs to its end" {
    [ -x "$ROOT/examples/demo.sh" ] || skip "no demo"
    got_from "$ROOT/examples/demo.sh"
    succeeds
    has "$out" "ROUTE to developer: the tests fail"
    has "$out" "1 of 1 room passed"
    has "$out" "Status: Approved"
    has "$out" "COMPLETED"
}

@test "the war-room example runs to its end" {
    CLIQ="$CLIQ" got_from "$ROOT/examples/war-room.sh"
    succeeds
    has "$out" "All acceptance criteria met."
}

# installed TARGET: installs the build under test into $T/root.
installed() {
    make -s -C "$ROOT" -o "$BUILD/flags" BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr "$1" >&2
}

@test "the installed files work, and make uninstall removes all of them" {
    [ -n "${BUILD:-}" ] || BUILD=build
    installed install
    find "$T/root" ! -type d >"$T/files"
    [ "$(wc -l <"$T/files")" -ge 10 ]
    is "$T/root/usr/bin/cliq" "$(find "$T/root" -type f -executable ! -name '*.so*')" # one program
    CLIQ=$T/root/usr/bin/cliq
    post r installed >/dev/null
    is installed "$(bodies r)"
    got help
    succeeds
    is "" "$(diff <("$T/root/usr/bin/cliq" completion bash) "$T/root/usr/share/bash-completion/completions/cliq")"
    # A program can be built with the installed library, statically and against the .so.
    ls "$T/root/usr/include/cliq.h" "$T/root/usr/lib/pkgconfig/cliq.pc" "$T/root/usr/share/man/man1/cliq.1"
    if ! nm "$T/root/usr/lib/libcliq.a" | grep -qE '__asan|gcov'; then
        gcc -I"$T/root/usr/include" -o "$T/static" "$ROOT/examples/channel.c" "$T/root/usr/lib/libcliq.a" -lpthread
        gcc -I"$T/root/usr/include" -o "$T/shared" "$ROOT/examples/channel.c" -L"$T/root/usr/lib" -lcliq
        has "$("$T/static" r static)" "qa: static"
        has "$(LD_LIBRARY_PATH=$T/root/usr/lib "$T/shared" r shared)" "qa: shared"
    fi
    mkdir -p "$T/root/usr/libexec/cliq" # files of an older version
    touch "$T/root/usr/libexec/cliq/cliq-"{full,net}
    installed uninstall
    is "" "$(find "$T/root" ! -type d)"
    [ ! -e "$T/root/usr/libexec/cliq" ]
}
