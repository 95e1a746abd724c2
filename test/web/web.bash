# web.bash - helpers of the tests of the page: load it at the top of a file in test/web/.
#
# A server of its own ($URL, $KEY), and projects to run in, as in test/scenario. `make test-web` installs
# what is needed (tools/deps web).
#
#   browse < JS     runs a script in a browser, $LIMIT (60) seconds at most; it has what browser.mjs exports
#                   (page, signIn, sees …)
#   browsing < JS   the same in the background: $BROWSER; `browsed` waits for it
load ../scenario/pipeline
load ../lib/serve

export WEB_CACHE=${CLIQ_WEB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-web}
export SHOTS=$ROOT/build/screenshots

a_script() {
    {
        echo "import { accessible, api, assert, base, browser, click, count, dialog, done, emit, go, KEY, open, page, problems, sees, shot, signIn, until } from '$BATS_TEST_DIRNAME/browser.mjs';"
        echo "import fs from 'node:fs';"
        echo 'try {'
        cat
        echo "} catch (e) { await page.screenshot({ path: process.env.T + '/failed.png' }).catch(() => {}); console.error(problems, await page.locator('body').innerText().catch(() => '')); throw e; }"
        echo 'await done();'
    } >"$T/$1.mjs"
}
browse() {
    a_script browse
    URL=$URL KEY=$KEY timeout ${LIMIT:-60} node "$T/browse.mjs" >"$T/browse.out" 2>&1 || { cat "$T/browse.out"; return 1; }
}
browsing() {
    a_script browsing
    URL=$URL KEY=$KEY timeout 60 node "$T/browsing.mjs" >"$T/browsing.out" 2>&1 3>&- &
    BROWSER=$!
}
browsed() { wait "$BROWSER" || { cat "$T/browsing.out"; return 1; }; }
id() { sed -n '1s/.*"run":"\([^"]*\)".*/\1/p' "${1:-.}/.cliq/run/journal.jsonl"; }
