#!/usr/bin/env bats
# The page Rooms: conversations with their state, posting as a role, signing off.
load web

@test "a room is a conversation that grows by itself; a message is posted as a role" {
    mkdir shop && cd shop
    "$CLIQ" init >/dev/null
    "$CLIQ" room create room-001 --ref EPIC-001 -m "Sign in with a key" >/dev/null
    browse <<'JS'
await signIn('rooms');
await page.getByRole('option').filter({ hasText: 'Sign in with a key' }).click();
await page.getByRole('heading', { name: 'EPIC-001: Sign in with a key' }).waitFor();
await page.getByLabel('As', { exact: true }).selectOption('engineer');
await page.getByLabel('Type', { exact: true }).selectOption('progress');
await page.getByLabel('To', { exact: true }).selectOption('qa');
await page.getByLabel('Message', { exact: true }).fill('It **works**, <i>nearly</i>');
await page.keyboard.press('Control+Enter');
await sees('<i>nearly</i>');
assert.equal(await page.locator('.talk strong').innerText(), 'works');
assert.equal(await page.locator('.talk i').count(), 0);
fs.writeFileSync(process.env.T + '/looks', '');
await accessible('a room');
await shot('room');
JS
    has "$("$CLIQ" channel read --room room-001 --jsonl)" '"from":"engineer","to":"qa","type":"progress"'
}

@test "a message of another program appears; a room is made" {
    mkdir shop && cd shop
    "$CLIQ" init >/dev/null
    "$CLIQ" room create room-001 -m "One" >/dev/null
    browsing <<'JS'
await signIn('rooms');
await page.getByRole('option').filter({ hasText: 'One' }).click();
await page.locator('.talk li').first().waitFor();
fs.writeFileSync(process.env.T + '/looks', '');
await sees('from the shell');
await click('New room');
await dialog().getByLabel('Name').fill('room-002');
await dialog().getByLabel('Task').fill('# Two\n\nmore');
await dialog().getByRole('button', { name: 'Make' }).click();
await page.locator('.run-head h1', { hasText: 'Two' }).waitFor();
assert.equal((await api('GET', '/rooms')).data.length, 2);
JS
    until_true exists "$T/looks"
    "$CLIQ" channel post --room room-001 --from qa --to manager --type progress --ref R --body "from the shell" >/dev/null
    browsed
}

@test "a room that waits for a person is among what needs one, and is answered" {
    mkdir shop && cd shop
    "$CLIQ" init >/dev/null
    printf 'cat >/dev/null\necho "VERDICT: PASS"\n' >"$T/qa"
    "$CLIQ" settings roles.qa.command ". '$T/qa'" >/dev/null
    "$CLIQ" room create room-001 -m "Sign in with a key" >/dev/null
    browsing <<'JS'
await signIn('needs');
await sees('Nothing needs you.');
fs.writeFileSync(process.env.T + '/looks', '');
const it = page.locator('.need').filter({ hasText: 'Sign in with a key waits for a person as engineer' });
await it.getByRole('button', { name: 'Open' }).click();
await sees('Waits for a person as engineer.');
assert.deepEqual(await page.locator('.banner button').allInnerTexts(), ['done', 'error']);
await click('done');
assert.deepEqual(await page.locator('.talk-foot select').evaluateAll((l) => l.map((s) => s.value)), ['engineer', 'done', 'manager']);
await page.keyboard.type('* it\n* works');
await page.keyboard.press('Control+Enter');
await page.locator('.life li[aria-current]', { hasText: 'passed' }).waitFor();
assert.equal(await page.locator('.talk .md li', { hasText: 'works' }).evaluate((li) => getComputedStyle(li).display), 'list-item');
await accessible('a room with an answer');
await open('Needs you');
await sees('Nothing needs you.');
JS
    until_true exists "$T/looks"
    "$CLIQ" room run >/dev/null
    browsed
}

@test "a room is carried by its roles while the page looks on, and is signed off" {
    mkdir shop && cd shop
    "$CLIQ" init >/dev/null
    printf 'cat >/dev/null\necho "**did** it"\n' >"$T/engineer"
    printf 'cat >/dev/null\n[ ! -e "%s/failed" ] || { echo "VERDICT: PASS"; exit; }\n: >"%s/failed"\necho "no test"\necho "VERDICT: FAIL"\n' "$T" "$T" >"$T/qa"
    for role in engineer qa; do "$CLIQ" settings "roles.$role.command" ". '$T/$role'" >/dev/null; done
    "$CLIQ" room create room-001 -m "Sign in with a key" >/dev/null
    browsing <<'JS'
await signIn('rooms');
await page.getByRole('option').filter({ hasText: 'Sign in with a key' }).click();
await page.locator('.talk li').first().waitFor();
fs.writeFileSync(process.env.T + '/looks', '');
await page.locator('.life li[aria-current]', { hasText: 'passed' }).waitFor();
await until(async () => (await page.locator('.talk .talk-head b').allInnerTexts()).join(' ') === 'manager engineer qa qa manager engineer qa', 'the conversation: ' + (await page.locator('.talk .talk-head b').allInnerTexts()).join(' '));
await sees('1 of 3 retries used');
for (const role of ['qa', 'engineer']) {
  await click('Sign off');
  await dialog().getByLabel('As').selectOption(role);
  await dialog().getByLabel('What you say').fill('fine');
  await dialog().getByRole('button', { name: 'Sign off' }).click();
  await dialog().waitFor({ state: 'detached' });
}
await sees(/signed by /);
await page.getByRole('button', { name: 'Sign off' }).waitFor({ state: 'detached' });
JS
    until_true exists "$T/looks"
    "$CLIQ" room run >/dev/null
    browsed
}
