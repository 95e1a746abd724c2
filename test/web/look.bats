#!/usr/bin/env bats
# How the page looks and is used: light, dark and on a phone; without serious problems for axe-core; by
# keyboard; without motion. The screenshots stay in build/screenshots.
load web

shop() {
    agent a <<'END'
ok
echo "log of $P, attempt $N"
[ "$P" != plan ] || hand build '{"version":1,"phase":"plan","data":{"files":["a.c"]},"text":"The plan: **one** function."}'
[ "$P" != build ] || [ "$N" = 1 ] || touch "$CLIQ_PROJECT_DIR/built"
[ "$P" != ship ] || { fail "the registry does not answer"; exit; }
complete
END
    team <<'END'
phases:
  - {name: plan, agent: a}
  - {name: build, agent: a, depends_on: [plan]}
  - {name: docs, agent: a, depends_on: [plan]}
  - {name: check, type: gate, agent: checks, depends_on: [build], commands: [{name: unit, run: "echo tested; test -e built"}]}
  - {name: ship, agent: a, depends_on: [check, docs]}
END
    run_is 3
    "$CLIQ" room create room-001 --ref EPIC-001 -m "Sign in with a key" >/dev/null
    "$CLIQ" role add dev >/dev/null
    "$CLIQ" emit task "Review **PR 42**" --to-identity admin --urgency 0.9 >/dev/null
}

@test "every page in light, in dark and on a phone" {
    shop
    RUN=$(id) ROOM=$(<.cliq/cliq.id) LIMIT=120 browse <<'JS'
await signIn();
await api('POST', '/v1/engine/signals/delayed', { type: 'report:daily', deliverAt: '+1h', data: { n: 7 }, repeatKey: 'daily' });
await api('POST', '/v1/engine/signals/subscribe', { pattern: 'build:*:done' });
const task = (await api('GET', '/inbox/@')).data[0].id;
for (const [scheme, width, height, name] of [['light', 1280, 860, 'light'], ['dark', 1280, 860, 'dark'], ['light', 360, 740, 'phone']]) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height });
  for (const [hash, what] of [['runs/' + process.env.RUN + '/check', 'run'], ['needs', 'needs'], ['signals', 'signals'], ['rooms/' + process.env.ROOM + '/room-001', 'room'], ['hub', 'hub'], ['runs', 'runs'], ['runs/' + process.env.RUN + '/plan/handoffs', 'handoffs'],
    ['signals/inbox', 'inbox'], ['signals/delayed', 'delayed'], ['signals/subscriptions', 'subscriptions'], ['signals/s/' + encodeURIComponent(task), 'signal']]) {
    await page.evaluate((x) => { location.hash = '#/' + x; }, hash);
    await page.locator({ run: 'svg.graph', needs: '.need', signals: '.row', room: '.talk li', hub: '.stat', runs: '.row', handoffs: '.md', inbox: '.row', delayed: '.need', subscriptions: 'td', signal: '.states' }[what]).first().waitFor();
    await accessible(`${what} ${name}`);
    await shot(`${what}-${name}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${what} ${name} is ${wide} px too wide`);
  }
}
await page.setViewportSize({ width: 360, height: 740 });
await page.evaluate(() => { location.hash = '#/runs'; });
await page.locator('.row').first().click();
await page.getByRole('link', { name: '‹ All runs' }).click();
await page.locator('.row').first().waitFor();
JS
}

@test "the keyboard reaches everything; motion stops on request" {
    shop
    browse <<'JS'
await page.emulateMedia({ reducedMotion: 'reduce' });
await signIn();
await page.locator('.row').first().waitFor();
await page.keyboard.press('?');
await page.getByRole('heading', { name: 'Keys' }).waitFor();
await accessible('keys');
await page.keyboard.press('Escape');
await dialog().waitFor({ state: 'detached' });
for (const [key, title] of [['n', 'Needs you'], ['s', 'Signals'], ['o', 'Rooms'], ['h', 'Hub'], ['r', 'Runs']]) {
  await page.keyboard.press('g');
  await page.keyboard.press(key);
  await page.locator('.top nav a[aria-current]', { hasText: title }).waitFor();
}
await page.locator('.row').first().waitFor();
await page.keyboard.press('/');
assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Filter runs');
await page.keyboard.press('Escape');
await page.keyboard.press('l');
await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');
await page.locator('svg.graph').waitFor();
// tab goes into the graph, Enter opens a phase
await page.locator('svg.graph a').first().focus();
await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await until(() => page.url().endsWith('/build'));
assert.equal(await page.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running').length), 0);
await page.keyboard.press('t');
assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
// every control has a name
assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('button,a,input,select,textarea')].filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)), []);
JS
}
