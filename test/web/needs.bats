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

@test "a review is rejected with a reason, and the run escalates" {
    human_team
    asks
    BOB=$(key_of bob '["review","inbox","stream","audit"]') REVIEW=$ID browse <<'JS'
await signIn('needs/review/' + process.env.REVIEW, process.env.BOB);
await click('Reject', page.locator('.main'));
await dialog().locator('textarea').fill('not what was asked');
await dialog().getByRole('button', { name: 'Reject' }).click();
await sees('not what was asked', page.locator('.main'));
await page.locator('.run-head .state', { hasText: 'reject' }).waitFor();
assert.equal(await page.locator('.main').getByRole('button', { name: 'Approve' }).count(), 0);
await page.locator('.need').filter({ hasText: 'asks for a person' }).waitFor();
JS
    ended run "$RUN"
    code_is 3
}

# A PNG of one pixel.
pixel() { base64 -d <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==; }

@test "the files and the changes of a review are shown as they were, and as text" {
    evil='<img src=x onerror=alert(1)>.txt'
    agent w <<END
ok
if [ "\$P" = build ]; then
    cd "\$CLIQ_PROJECT_DIR"
    printf 'int main(void)\n{\n    return 1; /* \342\200\256 */\n}\n' >main.c
    git mv old.txt new.txt && git rm -q gone.txt && echo "<script>alert(1)</script>" >>new.txt
    echo "<script>alert(2)</script>" >"$evil"
    printf '# Notes\n\n<script>alert(3)</script> **bold** [x](javascript:alert(4))\n' >notes.md
    cp "$T/pixel.png" shot.png && printf '\0\1' >data.bin && truncate -s 17M large.bin
    seq 3000 >many.txt
    hand accept '{"version":1,"phase":"build","data":{},"text":"main.c returns 1 <script>alert(5)</script>"}'
fi
complete
END
    pixel >"$T/pixel.png"
    team <<'END'
phases:
  - {name: build, agent: w}
  - {name: accept, type: gate, agent: hug, depends_on: [build], review: {reviewer: [ann], artifacts: ["*", "none/*"]}}
END
    git init -q . && git config user.email t@example.org && git config user.name t
    printf 'int main(void)\n{\n    return 0;\n}\n' >main.c
    seq 50 >old.txt && echo x >gone.txt && git add main.c old.txt gone.txt && git commit -qm first
    asks
    echo later >>notes.md
    ANN=$(key_of ann '["review","inbox","stream","audit"]') RUN_ID=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN_ID + '/accept/log', process.env.ANN);
await page.locator('.panel').getByRole('link', { name: 'Look' }).waitFor();
await page.getByRole('link', { name: 'accept: running, waits for ann, gate' }).waitFor();
await page.getByRole('link', { name: 'Look at the review' }).click();
const part = (title) => page.locator('.doc section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const card = (title, name) => part(title).locator('details.card').filter({ has: page.locator('summary code', { hasText: name }) });
// what changed: a file each, with its counts
const main = card('What changed', 'main.c');
await main.locator('.diff .plus', { hasText: 'return 1; /* ‹202e› */' }).waitFor();
assert.equal(await main.locator('summary').innerText().then((t) => t.trim().replace(/\s+/g, ' ')), 'main.c +1 −1');
const words = (await part('What changed').locator('summary').allInnerTexts()).map((t) => t.trim().replace(/\s+/g, ' '));
for (const w of ['gone.txt deleted −1', 'new.txt was old.txt +1', 'many.txt new +3000', 'shot.png new']) assert.ok(words.some((x) => x === w || x.startsWith(w)), w + ' in ' + words.join(' | '));
assert.equal(await card('What changed', 'many.txt').locator('.diff').count(), 0); // too long to be open
await card('What changed', 'many.txt').locator('summary').click();
await card('What changed', 'many.txt').getByRole('button', { name: /^Show all/ }).click();
await until(async () => (await card('What changed', 'many.txt').locator('.diff .plus').count()) === 3000);
// files: text, markdown, a picture, what is none; as they were
await card('Files', 'main.c').locator('summary').click();
await sees('return 1;', card('Files', 'main.c').locator('.text'));
const notes = card('Files', 'notes.md');
await notes.locator('summary', { hasText: 'changed since' }).click();
await notes.locator('.md strong', { hasText: 'bold' }).waitFor();
assert.ok(!(await notes.innerText()).includes('later'));
await click('Raw', notes);
await sees('**bold**', notes.locator('.text'));
await card('Files', 'shot.png').locator('summary').click();
await until(() => card('Files', 'shot.png').locator('img').evaluate((i) => i.complete && i.naturalWidth === 1));
await card('Files', 'data.bin').locator('summary').click();
await sees('The file is no text.', card('Files', 'data.bin'));
const evil = card('Files', 'onerror');
await evil.locator('summary').click();
await sees('<script>alert(2)</script>', evil);
const [saved] = await Promise.all([page.waitForEvent('download'), click('Download', evil)]);
assert.equal(fs.readFileSync(await saved.path(), 'utf8'), '<script>alert(2)</script>\n');
await sees('too large: not kept', part('Files'));
await sees('No file matches none/*.');
await sees('returns 1 <script>alert(5)</script>');
assert.equal(await page.locator('main script, main img:not([src^="blob:"]), main a[href^="javascript"]').count(), 0);
await accessible('a review with files');
await shot('review-light');
// they stay open when the review is answered
await click('Approve');
await dialog().getByRole('button', { name: 'Approve' }).click();
await page.locator('.run-head .state', { hasText: 'approve' }).waitFor();
assert.ok(await evil.evaluate((e) => e.open));
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
