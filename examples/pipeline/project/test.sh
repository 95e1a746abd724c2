#!/bin/sh
# The project's tests: what add.sh must do.
. ./add.sh
got=$(add 2 3)
[ "$got" = 5 ] && echo "add 2 3 = 5" >test.log && exit 0
echo "add 2 3 = $got, expected 5" | tee test.log
exit 1
