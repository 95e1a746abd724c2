#!/bin/sh
# A first agent in shell: cliq sdk --help lists what it can do. To try it alone, give it a message as cliq-sdk(3) shows.
set -eu
eval "$(cliq sdk begin --trap)"
who=$(cliq sdk get inputs.who 2>/dev/null) || who=world
cliq sdk progress "greeting $who"
printf 'Hello, %s\n' "$who" | cliq sdk write-file greeting.txt
cliq sdk board mark
cliq sdk send --data '{"file":"greeting.txt"}' "Wrote greeting.txt for $who."
cliq sdk complete
