#!/bin/sh
# The reviewer: judges by the test results it was given. With the shell SDK.
eval "$(cliq sdk begin)"
cliq sdk progress "looking at the test results"
if cliq sdk get check_results | grep -q '"pass":false'; then
    cliq sdk verdict ROUTE --target developer -m "the tests fail: $(cat test.log)"
else
    cliq sdk verdict PASS -m "all tests pass"
fi
