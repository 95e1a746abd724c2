#!/usr/bin/env bats
# Signing in to the page: by a key, by the ticket of cliq web; what a smaller key sees.
load web

@test "the first input takes the key; Enter signs in; a wrong one is told, and tried again" {
    browse <<'JS'
await go();
assert.equal(await page.evaluate(() => document.activeElement.id), 'key');
await page.keyboard.type('cho_wrong');
await page.keyboard.press('Enter');
await sees('the key is not known');
await page.keyboard.type(KEY); // what was there is selected
await page.keyboard.press('Enter');
await page.locator('.line.live').waitFor();
assert.equal(await page.locator('.line').innerText(), 'live');
assert.equal(await page.locator('.who').innerText(), 'admin');
assert.deepEqual(await page.locator('.top nav a').allInnerTexts().then((l) => l.map((t) => t.trim())).then((l) => l.slice(0, 3)), ['Runs', 'Needs you', 'Signals']);
// in memory only: a page that is loaded again asks again
assert.equal(await page.evaluate(() => sessionStorage.length + document.cookie.length), 0);
await page.reload();
await page.locator('#key').fill(KEY);
await page.getByLabel('keep it').check();
await page.keyboard.press('Enter');
await page.locator('.line.live').waitFor();
await page.reload();
await page.locator('.line.live').waitFor();
await click('Sign out');
await page.locator('#key').waitFor();
assert.equal(await page.evaluate(() => sessionStorage.length), 0);
JS
}

@test "cliq web prints an address that signs in once; the ticket leaves the address at once" {
    got web --print --as ann
    code_is 0
    like "$out" "^$URL/#ticket=[0-9a-f]{32}$"
    OPENED=$out browse <<'JS'
await page.goto(process.env.OPENED);
await page.locator('.line.live').waitFor();
assert.equal(await page.locator('.who').innerText(), 'ann');
assert.ok(!page.url().includes('ticket'), page.url());
await page.reload();
await page.locator('.line.live').waitFor();
await page.evaluate(() => sessionStorage.clear());
await page.goto('about:blank');
await page.goto(process.env.OPENED);
await sees('was used, or is older than a minute');
JS
    is "ann" "$("$CLIQ" key list --json | json '[k["identity"] for k in d if k["expires_at"]][0]')"
}

@test "a small key sees no button that it may not press, and the server refuses all the same" {
    small=$(key_of ruby '["inbox"]')
    id=$("$CLIQ" emit task "a task" --to-identity ruby)
    SMALL=$small ID=$id browse <<'JS'
const key = process.env.SMALL;
await go();
await page.locator('#key').fill(key);
await page.keyboard.press('Enter');
await page.locator('.who').waitFor();
assert.deepEqual(await page.locator('.top nav a').allInnerTexts().then((l) => l.map((t) => t.replace(/\d+/, '').trim())), ['Needs you', 'Signals', 'Rooms', 'Hub']);
await go('signals/s/' + process.env.ID);
await sees('a task');
const words = await page.locator('.doc button').allInnerTexts();
assert.deepEqual(words, ['Seen', 'Resolve', 'Snooze…', 'Unsnooze']);
assert.equal(await page.getByRole('button', { name: 'Write' }).count(), 0);
await open('Hub');
await sees('Identities');
assert.equal(await page.getByRole('button', { name: /Add|Create|Revoke|Give|Let in/ }).count(), 0);
assert.equal(await page.getByText('Keys', { exact: true }).count(), 0);
await go('runs');
await page.getByRole('heading', { name: 'Needs you' }).waitFor(); // no such page for this key
for (const [method, path, body] of [['GET', '/runs'], ['GET', '/keys'], ['POST', '/keys', { identity: 'x' }], ['POST', '/roles', { id: 'x' }], ['POST', '/claim', { signal_id: process.env.ID }], ['POST', '/emit', { signal_type: 'x' }], ['POST', '/runs/x/cancel', {}], ['GET', '/reviews']])
  assert.equal((await api(method, path, body, key)).status, 403, path);
JS
}

@test "who may only read runs sees no button that acts on them, and is refused all the same" {
    agent a <<'END'
ok
[ "$P" != one ] || { hand two '{"version":1,"phase":"one","data":{},"text":"the plan"}'; complete; exit; }
fail "no disk"
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    run_is 3
    mkdir "$T/rooms" && cd "$T/rooms" && "$CLIQ" init >/dev/null && "$CLIQ" room create room-001 -m "One" >/dev/null && cd "$T/proj"
    READS=$(key_of eve '["audit"]') RUN=$(id) browse <<'JS'
const key = process.env.READS, run = process.env.RUN;
await signIn('runs/' + run + '/two/handoffs', key);
await sees('the plan');
await sees('no disk');
assert.deepEqual(await page.locator('main button').allInnerTexts(), ['Raw', 'Raw'].slice(0, await page.getByRole('button', { name: 'Raw' }).count()));
await open('Rooms');
await page.getByRole('option').filter({ hasText: 'One' }).click();
await page.locator('.talk li').first().waitFor();
assert.equal(await page.locator('main button, main textarea').count(), 0);
await open('Needs you');
await sees('asks for a person');
assert.deepEqual(await page.locator('.need button').allInnerTexts(), ['Open', '×']);
for (const [path, body] of [['/runs/' + run + '/cancel', {}], ['/runs/' + run + '/resume', {}], ['/runs/' + run + '/retry/two', {}], ['/runs/' + run + '/handoff', { from: 'one', to: 'two', handoff: {} }], ['/rooms', { room: 'x', task: 'y' }],
  ['/rooms/room-001/messages', { from: 'qa', type: 'pass', body: 'x' }], ['/rooms/room-001/signoff', { from: 'qa', body: 'x' }], ['/reviews/x/approve', {}], ['/keys/revoke', { id: 'x' }], ['/requeue', { signal_id: 'x' }], ['/v1/engine/signals/delayed', { type: 'a', deliverAt: '+1h' }]])
  assert.equal((await api('POST', path, body, key)).status, 403, path);
JS
}

@test "a revoked key ends what the page does, and says so" {
    made=$(send /keys '{"identity":"ruby"}')
    key=$(json 'd["data"]["key"]' <<<"$made") id=$(json 'd["data"]["id"]' <<<"$made")
    RUBY=$key ID=$id browse <<'JS'
await signIn('', process.env.RUBY);
assert.equal((await api('POST', '/keys/revoke', { id: process.env.ID })).status, 200);
await page.locator('#key').waitFor();
await sees(/no longer valid|revoked/);
JS
}
