#!/usr/bin/env bats
# Packages made to harm whoever installs them.
load ../lib/cli

@test "300 hostile packages: all refused, nothing outside the target, nothing installed, nothing run" {
    local seed=$RANDOM
    echo "seed $seed" # bats shows it when the test fails
    is "300 refused" "$($PY "$BATS_TEST_DIRNAME/hostile_packages.py" "$CLIQ" "$T/hostile" "${HOSTILE_PACKAGES:-300}" $seed)"
}
