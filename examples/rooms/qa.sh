# The reviewer of quality: runs the function with and without a name.
cat >/dev/null
. ./greet.sh
if [ "$(greet Ann)" = "Hello, Ann!" ] && [ "$(greet)" = "Hello, world!" ]; then
    echo "Both criteria are met."
    echo "VERDICT: PASS"
else
    echo "Without a name it says: $(greet)"
    echo "VERDICT: FAIL"
fi
