# The engineer of the demo's room: a first version, and a better one when the review sent it back.
# Standard input is the message that starts it; what it prints is its answer.
if grep -q '"type":"fix"'; then
    printf '%s\n' 'greet() { printf "Hello, %s!\n" "${1:-world}"; }' >greet.sh
    echo "greet.sh has a default now. To test it: . ./greet.sh; greet"
else
    printf '%s\n' 'greet() { printf "Hello, %s!\n" "$1"; }' >greet.sh
    echo "Wrote greet.sh. To test it: . ./greet.sh; greet Ann"
fi
