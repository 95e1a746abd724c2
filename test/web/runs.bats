#!/usr/bin/env bats
# The page Runs: real runs, live; a phase with its log, handoffs, prompt and checks; what can be done.
load web

# plan -> build -> check (a gate whose first look sends the work back) -> ship.
a_team() {
    agent a <<'END'
ok
echo "log of $P, attempt $N"
progress "working on $P"
[ "$P" != plan ] || hand build '{"version":1,"phase":"plan","data":{"files":["a.c"]},"text":"## The plan\n\nWrite **one** function."}'
[ "$P" != slow ] || { touch "$T/began"; await go; echo "the end of the log"; }
[ ! -e "$T/bad" ] || [ "$P" != build ] || { fail "no compiler"; exit; }
[ "$P" != build ] || [ "$N" = 1 ] || touch "$CLIQ_PROJECT_DIR/built"
complete
END
    team <<END
phases:
  - {name: plan, agent: a}
  - {name: build, agent: a, depends_on: [plan]}
  - {name: check, type: gate, agent: checks, depends_on: [build], commands: [{name: unit, run: "echo tested; test -e built"}]}
  - {name: ${1:-ship}, agent: a, depends_on: [check]}
END
}
begun() { [ -e "$T/began" ]; }

@test "a run is drawn as a graph with its gate's way back; phases open from it" {
    a_team
    run_ok
    RUN=$(id) browse <<'JS'
await signIn();
const row = page.getByRole('option').filter({ hasText: 'proj' });
await row.waitFor();
assert.match(await row.innerText(), /completed[\s\S]*4 of 4/);
await row.click();
await sees('sent back, iteration 2 of 3');
assert.ok(page.url().endsWith('#/runs/' + process.env.RUN));
const names = await page.locator('svg.graph a').evaluateAll((l) => l.map((a) => a.querySelector('title').textContent.split('\n')[0]));
assert.deepEqual(names, ['plan: done', 'build: done', 'check: done, gate, iteration 2 of 3', 'ship: done']);
// layers: each phase stands to the right of what it depends on
const x = await page.locator('svg.graph a .box').evaluateAll((l) => l.map((b) => b.getBoundingClientRect().left));
assert.ok(x[0] < x[1] && x[1] < x[2] && x[2] < x[3], String(x));
assert.equal(await page.locator('.timeline .bar').count(), 6);
assert.equal(await page.locator('.timeline .bar.warn').getAttribute('aria-label').then((t) => t.startsWith('check, attempt 1: sent back to build')), true);
await page.getByRole('link', { name: 'build: done' }).click();
await sees('log of build, attempt 2');
await page.getByLabel('Attempt', { exact: true }).selectOption('1');
await sees('log of build, attempt 1');
await page.getByRole('link', { name: /^Handoffs/ }).click();
await page.getByRole('heading', { name: 'The plan' }).waitFor();
assert.equal(await page.locator('.md strong').innerText(), 'one');
await click('Raw', page.locator('.card').filter({ hasText: 'from plan' }));
await sees('"## The plan');
await page.getByRole('link', { name: 'check: done, gate' }).click();
await page.getByRole('link', { name: /^Checks/ }).click();
await sees('tested');
await page.keyboard.press('Escape');
await until(() => page.url().endsWith('#/runs/' + process.env.RUN));
JS
}

@test "a graph that is wider than its place shows the phase that is chosen" {
    agent a <<<'ok; complete'
    wide() { echo "phases: [{name: p-1, agent: a}"; for n in {2..14}; do echo ", {name: p-$n, agent: a, depends_on: [p-$((n - 1))]}"; done; echo "]"; }
    team < <(wide)
    run_ok
    RUN=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN + '/p-14/log');
const inView = (name) => page.getByRole('link', { name, exact: true }).evaluate((a) => { const n = a.getBoundingClientRect(), p = a.closest('.picture').getBoundingClientRect(); return n.left >= p.left && n.right <= p.right; });
await page.getByRole('link', { name: 'p-14: done' }).waitFor();
await until(() => inView('p-14: done'));
assert.ok(!(await inView('p-1: done')));
// what was clicked stands below the graph, and is seen
await page.locator('.picture').evaluate((p) => { p.scrollLeft = 0; });
await page.getByRole('link', { name: 'p-2: done' }).click();
await page.locator('.panel h2', { hasText: 'p-2' }).waitFor();
await until(() => page.locator('.panel h2').evaluate((h) => { const r = h.getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; }));
assert.ok(await inView('p-2: done'));
JS
}

@test "a run that goes on is shown live, its log follows, and it is cancelled" {
    hold go
    a_team slow
    "$CLIQ" run --detach >/dev/null
    until_true begun
    RUN=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN + '/slow/log');
await sees('log of slow, attempt 1');
await page.getByRole('link', { name: 'slow: running' }).waitFor();
fs.appendFileSync(process.env.T + '/proj/.cliq/run/logs/slow.1.log', 'a line that comes later\n');
await sees('a line that comes later');
await click('Cancel run');
await dialog().getByRole('button', { name: 'Cancel run' }).click();
await page.getByRole('link', { name: 'slow: cancelled' }).waitFor();
await page.locator('.run-head .state', { hasText: 'cancelled' }).waitFor();
JS
    is CANCELLED "$(<.cliq/signals/_pipeline_status)"
    is 0 "$(left | wc -w)"
}

@test "a run that begins appears by itself, and is shown as it goes on" {
    hold go
    a_team slow
    browsing <<'JS'
await signIn();
await sees('Nothing has run yet');
fs.writeFileSync(process.env.T + '/looks', '');
await page.getByRole('option').filter({ hasText: 'proj' }).click();
await page.getByRole('link', { name: 'slow: running' }).waitFor();
fs.writeFileSync(process.env.T + '/saw', '');
await page.getByRole('link', { name: 'slow: done' }).waitFor();
await page.locator('.run-head .state', { hasText: 'completed' }).waitFor();
JS
    until_true exists "$T/looks"
    "$CLIQ" run --detach >/dev/null
    until_true exists "$T/saw"
    release go
    browsed
}

@test "a handoff is edited, with what changes shown, and its phase is retried; a phase is retried" {
    a_team
    touch "$T/bad"
    run_is 3
    rm "$T/bad"
    RUN=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN + '/build/handoffs');
await sees('no compiler');
await click('Edit');
const area = dialog().locator('textarea');
await area.fill((await area.inputValue()).replace('a.c', 'main.c'));
assert.match(await dialog().locator('.minus').innerText(), /a\.c/);
assert.match(await dialog().locator('.plus').innerText(), /main\.c/);
const good = await area.inputValue();
await area.fill('{ no');
await sees(/Not JSON yet/, dialog());
await area.fill('{"version":2}');
await dialog().getByRole('button', { name: 'Save' }).click();
await until(async () => (await dialog().locator('.problem[role=alert]').innerText()).length > 3, 'the refusal is shown');
await area.fill(good);
await dialog().getByRole('button', { name: 'Save' }).click();
await page.locator('.run-head .state', { hasText: 'completed' }).waitFor();
await sees('main.c');
await page.getByRole('link', { name: 'ship: done' }).click();
await click('Retry from here');
await dialog().getByRole('button', { name: 'Retry' }).click();
await sees('log of ship, attempt 2');
JS
    has "$(<.cliq/channels/plan--build/handoff.json)" main.c
    has "$(starts)" "build.1 build.2"
}

@test "a run whose orchestrator was killed is resumed" {
    hold go
    a_team slow
    start_run run
    until_true begun
    kill -KILL "$PID"
    until_true gone "$PID"
    release go
    RUN=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN);
await page.locator('.run-head .state', { hasText: 'interrupted' }).waitFor();
await click('Resume');
await page.locator('.run-head .state', { hasText: 'completed' }).waitFor();
JS
}

@test "a team that is a phase opens: its own graph, and the logs of its phases" {
    agent w <<'END'
ok
echo "log of $P"
[ "$P" != two ] || hand out '{"version":1,"phase":"two","data":{},"text":"text of two"}'
complete
END
    mkdir -p "$T/team/teams/inner" && cp -r "$T/team/agents" "$T/team/teams/inner/"
    mkdir -p "$T/team/roles" && echo "Build it." >"$T/team/roles/build.md"
    {
        printf 'name: "@local/inner"\ndescription: a team in a team\nagents:\n%s' "$AGENTS"
        echo 'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    } >"$T/team/teams/inner/team.yml"
    team <<<'phases: [{name: a, agent: w}, {name: build, type: team, team: ./teams/inner, depends_on: [a]}, {name: z, agent: w, depends_on: [build]}]'
    run_ok
    RUN=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN);
await page.getByRole('link', { name: 'build: done, team' }).click();
await sees('@local/inner', page.locator('.nested'));
await page.locator('.panel').getByText('text of two').waitFor();
await page.locator('.nested').getByRole('link', { name: 'two: done' }).click();
await until(() => page.url().endsWith('/build%2Ftwo'));
await sees('log of two');
await page.locator('.nested a[aria-current]').waitFor();
assert.equal(await page.getByRole('button', { name: 'Retry from here' }).count(), 0); // only the team as a whole can be
await page.locator('.nested').getByRole('link', { name: 'one: done' }).click();
await sees('log of one');
await page.locator('.nested p').getByRole('link', { name: 'build' }).click();
await sees('@local/inner', page.locator('.nested'));
await accessible('a team in a run');
JS
}
