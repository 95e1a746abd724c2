# The security reviewer: nothing in the script may be executed that a caller gives.
cat >/dev/null
if grep -q eval greet.sh; then
    echo "greet.sh evaluates what it is given."
    echo "VERDICT: FAIL"
else
    echo "Nothing of the caller is executed."
    echo "VERDICT: PASS"
fi
