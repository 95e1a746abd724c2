#!/bin/sh
# An agent in shell: lists the TODO comments of the sources; as a gate it routes back while there are any.
# To try it, create .cliq/ and message.json as cliq-sdk(3) shows, then: sh agent.sh < message.json
set -eu
eval "$(cliq sdk begin --trap)"
cliq sdk progress "looking for TODO and FIXME"
todos=$(cd "$CLIQ_WORK_DIR" && grep -rnIE --exclude-dir=.git --exclude-dir=.cliq 'TODO|FIXME' .) || true
n=$(printf '%s' "$todos" | grep -c '') || true
printf '%s\n' "$todos" | cliq sdk write-file todos.txt
if [ "$CLIQ_PHASE_TYPE" != gate ]; then
    cliq sdk send --data "{\"todos\":$n}" "$n line(s) are left to do; see files/$CLIQ_PHASE/todos.txt."
    cliq sdk board mark
    cliq sdk complete
elif [ "$n" -eq 0 ]; then
    cliq sdk verdict PASS -m "Nothing is left to do."
else
    cliq sdk verdict ROUTE --target "${CLIQ_ROUTE_TARGETS%% *}" -m "$n line(s) are left to do."
fi
