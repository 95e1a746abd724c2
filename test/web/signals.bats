#!/usr/bin/env bats
# The page Signals: the stream with its filters, one signal with history and thread, inboxes, delayed
# signals, subscriptions, writing.
load web

@test "the stream shows what was and what comes, newest first; filters sift it" {
    "$CLIQ" role add dev >/dev/null
    for n in 1 2 3; do "$CLIQ" emit sense "old $n" --as ruby >/dev/null; done
    browse <<'JS'
await signIn('signals');
await sees('old 1');
await emit({ signal_type: 'build:web:done', content: 'it is built', urgency: 0.9 });
await sees('it is built');
const rows = () => page.locator('.row').evaluateAll((l) => l.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((r) => r.querySelector('.one').textContent));
assert.deepEqual(await rows(), ['it is built', 'old 3', 'old 2', 'old 1']);
assert.equal(await page.locator('.hot').count(), 1);
await emit({ signal_type: 'task', content: 'for dev', to_role: 'dev' });
await sees('for dev');
await page.getByLabel('Text in the signal').fill('OLD 2');
await until(async () => (await rows()).join() === 'old 2');
await sees(/^1 of 5 signals/);
await page.getByLabel('Text in the signal').fill('');
await page.getByLabel('Pattern of the type').fill('build:*:done');
await until(async () => (await rows()).join() === 'it is built');
await emit({ signal_type: 'build:api:done', content: 'another' });
await until(async () => (await rows()).join() === 'another,it is built');
await page.getByLabel('Pattern of the type').fill('');
await page.getByLabel('Urgency').selectOption('0.8');
await until(async () => (await rows()).join() === 'it is built');
await page.getByLabel('Urgency').selectOption('0');
await page.getByLabel('Any role').selectOption('dev');
await until(async () => (await rows()).join() === 'for dev');
await page.getByLabel('Any role').selectOption('');
// the keyboard: to the list, down, open, close
await page.getByLabel('Text in the signal').press('Escape');
await page.keyboard.press('l');
await page.keyboard.press('ArrowDown');
await page.keyboard.press('j');
await page.keyboard.press('Enter');
await page.locator('.main h1', { hasText: 'task' }).waitFor();
await page.keyboard.press('Escape');
await until(() => page.url().endsWith('#/signals'));
JS
}

@test "a task is written, claimed, worked on, given back, failed and settled; its history is a line of states" {
    browse <<'JS'
await signIn('signals');
await page.keyboard.press('c');
await dialog().getByLabel('Text', { exact: true }).fill('# Do it\n\nplease');
await dialog().getByLabel('To', { exact: true }).selectOption('to_identity admin');
await dialog().getByLabel('Tags').fill('one, two');
await dialog().getByRole('button', { name: 'Send' }).click();
await page.locator('.row').filter({ hasText: 'Do it' }).click();
await page.getByRole('heading', { name: 'Do it' }).waitFor();
const word = (w) => page.locator('.run-head .state', { hasText: w }).waitFor();
for (const [press, becomes] of [['Claim', 'claimed'], ['Start', 'in progress'], ['Blocked', 'blocked'], ['Start', 'in progress'], ['Give back', 'open'], ['Claim', 'claimed']]) {
  await click(press, page.locator('.main'));
  await word(becomes);
}
await click('Extend', page.locator('.main'));
await click('Failed…', page.locator('.main'));
await dialog().locator('textarea').fill('no network');
await dialog().getByLabel('Seconds').fill('0');
await dialog().getByRole('button', { name: 'Fail' }).click();
await page.locator('.states').getByText('no network').waitFor();
await word('open');
const steps = await page.locator('.states b').allInnerTexts();
assert.deepEqual(steps.slice(0, 7), ['sent', 'claimed', 'in progress', 'blocked', 'in progress', 'given back', 'claimed']);
await click('Answer…', page.locator('.main'));
await dialog().getByLabel('Text', { exact: true }).fill('on my way');
await dialog().getByRole('button', { name: 'Send' }).click();
await page.locator('.talk').getByText('on my way').waitFor();
for (const b of ['Seen', 'Resolve', 'Ack']) await click(b, page.locator('.main'));
await accessible('a signal');
await shot('signal');
JS
}

@test "a signal is written to a role, a ring, one's own or everyone; the stream is filtered by ring" {
    "$CLIQ" role add dev >/dev/null
    "$CLIQ" ring add ops >/dev/null
    browse <<'JS'
await signIn('signals');
const write = async (to, text, urgency) => {
  await click('Write');
  await accessible('writing');
  await dialog().getByLabel('To', { exact: true }).selectOption({ label: to });
  await dialog().getByLabel('Type', { exact: true }).fill('query');
  await dialog().getByLabel('Text', { exact: true }).fill(text);
  if (urgency) await dialog().getByLabel('Urgency').fill(urgency);
  await dialog().getByRole('button', { name: 'Send' }).click();
  await page.locator('.row').filter({ hasText: text }).waitFor();
};
await write('Role dev', 'to a role');
await write('Ring ops', 'to a ring', '0.9');
await write('@admin', 'to one');
await write('Everyone', 'to all');
const sent = (await api('GET', '/signals/list')).data;
const one = (text) => sent.find((s) => s.content === text);
assert.equal(one('to a role').to_role, 'dev');
assert.equal(one('to a ring').to_ring, 'ops');
assert.equal(one('to a ring').urgency, 0.9);
assert.equal(one('to one').to_identity, 'admin');
assert.equal(one('to all').to_role ?? one('to all').to_ring ?? one('to all').to_identity, null);
await page.getByLabel('Any ring').selectOption('ops');
await until(async () => (await page.locator('.row .one').allInnerTexts()).join() === 'to a ring');
await page.getByLabel('Any ring').selectOption('');
await page.getByLabel('Type', { exact: true }).fill('alert');
await sees(/^0 of 4 signals/);
JS
}

@test "an inbox has its views and marks; a signal is snoozed and comes back" {
    "$CLIQ" emit sense "for ann" --to-identity ann >/dev/null
    "$CLIQ" role add dev >/dev/null
    "$CLIQ" emit task "for dev" --to-role dev >/dev/null
    ANN=$(key_of ann) browse <<'JS'
await signIn('signals/inbox', process.env.ANN);
await page.locator('.row').filter({ hasText: 'for ann' }).click();
await click('Snooze…', page.locator('.main'));
await dialog().locator('select').selectOption('+24h');
await dialog().getByRole('button', { name: 'Snooze' }).click();
await page.locator('.row').waitFor({ state: 'detached' });
await page.getByLabel('Your own mark').selectOption('snoozed');
await page.locator('.row').filter({ hasText: 'for ann' }).waitFor();
await click('Unsnooze', page.locator('.main'));
await page.locator('.row').waitFor({ state: 'detached' });
await page.getByLabel('Your own mark').selectOption('');
await page.locator('.row').filter({ hasText: 'for ann' }).waitFor();
await page.getByLabel('Whose inbox').selectOption('dev');
await page.locator('.row').filter({ hasText: 'for dev' }).waitFor();
await emit({ signal_type: 'task', content: 'another', to_role: 'dev' });
await page.locator('.row').filter({ hasText: 'another' }).waitFor();
JS
}

@test "a signal is scheduled and cancelled; a subscription begins and ends" {
    browse <<'JS'
await signIn('signals/delayed');
await click('Schedule');
await dialog().getByLabel('Type').fill('report:daily');
await dialog().getByLabel('Data').fill('{oops');
await dialog().getByRole('button', { name: 'Schedule' }).click();
await sees(/not JSON/, dialog());
await dialog().getByLabel('Data').fill('{"n":7}');
await dialog().getByLabel('Repeat key').fill('daily');
await dialog().getByRole('button', { name: 'Schedule' }).click();
await page.locator('.need').filter({ hasText: 'report:daily' }).getByRole('button', { name: 'Cancel' }).click();
await sees('Nothing waits for its time.');
await page.getByRole('link', { name: 'Subscriptions' }).click();
await click('Subscribe');
await dialog().getByLabel('Pattern').fill('build:*:done');
await dialog().getByRole('button', { name: 'Subscribe' }).click();
await page.locator('td code', { hasText: 'build:*:done' }).waitFor();
await accessible('subscriptions');
await page.getByRole('button', { name: 'End build:*:done' }).click();
await sees('No subscription.');
JS
}
