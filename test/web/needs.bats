#!/usr/bin/env bats
# The page Needs you: everything that waits for a person, with its buttons; the number in the title.
load web
load ../scenario/human

@test "a review is looked at and approved, and the run goes on" {
    human_team
    asks
    BOB=$(key_of bob '["review","inbox","stream","audit"]') browse <<'JS'
await signIn('needs'); // an admin sees it, and is no reviewer
await sees(/waits for a decision/);
assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0);
await click('Sign out');
await signIn('needs', process.env.BOB);
await sees(/waits for a decision/);
await until(async () => (await page.title()).startsWith('(1) '), 'the number in the title');
assert.equal(await page.locator('.badge').innerText(), '1');
await click('Look');
await page.getByRole('heading', { name: 'accept' }).waitFor();
await sees('work.txt');
await accessible('a review');
await click('Ask for changes');
await dialog().getByRole('button', { name: 'Send back' }).click(); // a comment is needed: the browser says so
assert.equal(await dialog().count(), 1);
await dialog().locator('textarea').fill('more <b>work</b>');
await dialog().locator('select').selectOption('build');
await dialog().getByRole('button', { name: 'Send back' }).click();
await sees('more <b>work</b>');
JS
    waits 2
    BOB=$(key_of bob '["review","inbox","stream"]') browse <<'JS'
await signIn('needs', process.env.BOB);
await click('Approve');
await dialog().getByRole('button', { name: 'Approve' }).click();
await sees('Nothing needs you.');
assert.ok(!(await page.title()).startsWith('('));
JS
    ended run "$RUN"
    code_is 0
}

@test "stopped runs, dead letters, expired leases, alerts and tasks are listed, and settled" {
    agent a <<<'ok; fail "no disk"'
    team <<<'phases: [{name: one, agent: a}]'
    run_is 3
    "$CLIQ" emit task "write the report" --to-identity admin >/dev/null
    "$CLIQ" emit alert "the disk is full" --to-identity admin >/dev/null
    "$CLIQ" emit alert "the network is down" >/dev/null
    dead=$("$CLIQ" emit task "deploy")
    for _ in 1 2 3 4 5; do
        until_true "$CLIQ" claim "$dead" --as ruby >/dev/null 2>&1
        "$CLIQ" fail "$dead" --as ruby --error "no network" --retry-in 0 >/dev/null
    done
    back=$("$CLIQ" emit task "came back")
    "$CLIQ" claim "$back" --as ruby --lease 1s >/dev/null
    expired() { "$CLIQ" status-of "$back" --history --json | grep -q expire; }
    until_true expired
    browse <<'JS'
await signIn('needs');
for (const t of ['asks for a person', 'was given up', 'its lease expired', 'A task for you', 'the disk is full', 'the network is down', 'no disk']) await sees(t);
assert.equal(await page.locator('.need').count(), 6);
await until(async () => (await page.title()).startsWith('(6) '), 'six');
await accessible('needs you');
await shot('needs');
const item = (t) => page.locator('.need').filter({ hasText: t });
await item('was given up').getByRole('button', { name: 'Requeue' }).click();
await item('was given up').waitFor({ state: 'detached' });
await item('the disk is full').getByRole('button', { name: 'Resolve' }).click();
await item('the disk is full').waitFor({ state: 'detached' });
await item('the network is down').getByRole('button', { name: 'Dismiss' }).click();
await item('the network is down').waitFor({ state: 'detached' });
await item('its lease expired').getByRole('button', { name: 'Claim' }).click();
await item('its lease expired').waitFor({ state: 'detached' });
await item('asks for a person').getByRole('button', { name: 'Dismiss' }).click();
await item('asks for a person').waitFor({ state: 'detached' });
await item('A task for you').getByRole('button', { name: 'Claim' }).click();
await item('A task for you').getByRole('button', { name: 'Done' }).click();
await item('A task for you').waitFor({ state: 'detached' });
JS
    is pending "$("$CLIQ" status-of "$dead" --json | json 'd["delivery_state"]')"
}

@test "what comes while the page is hidden is notified, when the browser allows it" {
    browse <<'JS'
await page.addInitScript(() => {
  globalThis.told = [];
  globalThis.Notification = class { constructor(title, o) { globalThis.told.push(title + '|' + o.body); } static permission = 'granted'; static requestPermission = async () => 'granted'; };
});
await signIn('needs');
await sees('Nothing needs you.');
await click('Notify me');
await sees('Notifications are on');
await emit({ signal_type: 'alert', content: 'seen anyway' });
await sees('seen anyway');
await page.evaluate(() => { Object.defineProperty(document, 'hidden', { value: true, configurable: true }); });
await emit({ signal_type: 'alert', content: 'the disk is full' });
await until(() => page.evaluate(() => globalThis.told.length), 'the notification');
assert.deepEqual(await page.evaluate(() => globalThis.told), ['Alert from admin|the disk is full']);
JS
}

@test "an agent that has said nothing for long is listed, until it is heard again" {
    hold go
    agent a <<<'ok; touch "$T/began"; await go; complete'
    team <<<'phases: [{name: one, agent: a}]'
    "$CLIQ" run --detach >/dev/null
    begun() { [ -e "$T/began" ]; }
    until_true begun
    browse <<'JS'
// the server's clock, as the page takes it: ten minutes later
await page.route('**/whoami', async (route) => {
  const answer = await route.fetch(), doc = await answer.json();
  doc.data.now = new Date(Date.parse(doc.data.now) + 600000).toISOString();
  await route.fulfill({ response: answer, json: doc });
});
await signIn('needs');
await sees(/has said nothing for 1\d min/);
await click('Open log');
await page.locator('.panel h2', { hasText: 'one' }).waitFor();
await page.goBack();
await click('Cancel run');
await dialog().getByRole('button', { name: 'Cancel run' }).click();
await sees('Nothing needs you.');
JS
}
