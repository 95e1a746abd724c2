#!/usr/bin/env bats
# The page while the server goes and comes, with very many signals, and with texts that mean harm.
load web

@test "a lost server is told within two seconds, and mended by itself without a gap" {
    browsing <<'JS'
await signIn('signals');
await emit({ signal_type: 'pulse', content: 'before' });
await sees('before');
fs.writeFileSync(process.env.T + '/looks', '');
await until(() => fs.existsSync(process.env.T + '/killed'));
const killed = Date.now();
await page.locator('.line.lost').waitFor();
assert.ok(Date.now() - killed < 2000, 'told after ' + (Date.now() - killed) + ' ms');
assert.equal(await page.locator('.line').innerText(), 'reconnecting');
fs.writeFileSync(process.env.T + '/saw', '');
await page.locator('.line.live').waitFor();
await sees('meanwhile 2');
await sees('after');
const rows = await page.locator('.row .one').allInnerTexts();
assert.deepEqual(rows.sort(), ['after', 'before', 'meanwhile 1', 'meanwhile 2']);
JS
    until_true exists "$T/looks"
    kill -KILL "$SERVER"
    wait "$SERVER" || true
    touch "$T/killed"
    until_true exists "$T/saw"
    "$CLIQ" emit pulse "meanwhile 1" >/dev/null
    "$CLIQ" emit pulse "meanwhile 2" >/dev/null
    boot "$PORT"
    "$CLIQ" emit pulse "after" >/dev/null
    browsed
}

@test "a server that hangs is told within two seconds, too, and is live when it goes on" {
    browsing <<'JS'
await signIn('signals');
await emit({ signal_type: 'pulse', content: 'before' });
await sees('before');
// the page's own clock: a busy machine tells us late
await page.evaluate(() => {
  const line = document.querySelector('.line');
  new MutationObserver(() => { if (line.className.includes('lost')) globalThis.lostAt = Date.now(); }).observe(line, { attributes: true });
});
fs.writeFileSync(process.env.T + '/looks', '');
await until(() => fs.existsSync(process.env.T + '/stopped'));
const stopped = fs.statSync(process.env.T + '/stopped').mtimeMs;
await until(() => page.evaluate((t) => globalThis.lostAt > t, stopped));
const ms = (await page.evaluate(() => globalThis.lostAt)) - stopped;
assert.ok(ms < 2000, 'told after ' + ms + ' ms');
fs.writeFileSync(process.env.T + '/saw', '');
await page.locator('.line.live').waitFor();
await sees('meanwhile');
assert.deepEqual((await page.locator('.row .one').allInnerTexts()).sort(), ['before', 'meanwhile']);
JS
    until_true exists "$T/looks"
    kill -STOP "$SERVER"
    touch "$T/stopped"
    until_true exists "$T/saw"
    "$CLIQ" emit pulse "meanwhile" >/dev/null
    kill -CONT "$SERVER"
    browsed
}

@test "ten tabs at one server are live, and one in the background gives way to one that is looked at" {
    browse <<'JS'
const tabs = [page];
await signIn('signals');
while (tabs.length < 10) {
  const tab = await browser.newPage();
  tabs.push(tab);
  await tab.goto(base + '/#/signals');
  await tab.locator('#key').fill(KEY);
  await tab.locator('#key').press('Enter');
  await tab.locator('.line.live').waitFor();
}
for (let n = 1; n <= 3; n++) {
  await emit({ signal_type: 'pulse', content: 'to all ' + n });
  await Promise.all(tabs.map((tab) => tab.getByText('to all ' + n).first().waitFor()));
}
for (const tab of tabs) await tab.locator('.line.live').waitFor();
// no gap, nothing twice
for (const tab of tabs) assert.deepEqual(await tab.locator('.row .one').allInnerTexts().then((l) => l.toSorted()), ['to all 1', 'to all 2', 'to all 3']);
const streams = async () => Number(/^cliq_stream_clients (\d+)/m.exec(await (await fetch(base + '/metrics', { headers: { Authorization: 'Bearer ' + KEY } })).text())[1]);
const keeps = (tab) => tab.evaluate(async () => {
  const { stream } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'api.js'));
  return stream.hasSlot;
});
const kept = [];
for (const tab of tabs) if (await keeps(tab)) kept.push(tab);
assert.equal(kept.length, 4);
const waiting = tabs.find((tab) => !kept.includes(tab));
for (const tab of tabs) if (tab !== waiting && tab !== kept[0]) await tab.evaluate(() => {
  Object.defineProperty(document, 'hidden', { value: true, configurable: true });
});
await until(() => keeps(waiting), 'it is given a stream');
assert.ok(await keeps(kept[0])); // it is looked at
for (const tab of tabs.slice(2)) await tab.close();
await until(async () => (await streams()) <= 2, 'streams of closed tabs end');
JS
}

@test "50,000 signals scroll smoothly, and few of them are elements" {
    $PY - "$URL" "$KEY" <<'PY'
import json, sys, urllib.request
url, key = sys.argv[1:]
for k in range(50):
    body = json.dumps({"signals": [{"signal_type": "load:%d" % (i % 7), "content": "signal %d" % (k * 1000 + i)} for i in range(1000)]}).encode()
    urllib.request.urlopen(urllib.request.Request(url + "/emit/batch", body, {"Authorization": "Bearer " + key, "Content-Type": "application/json"})).read()
PY
    browse <<'JS'
await signIn('signals');
await sees('signal 49999');
const list = page.locator('.list');
// older ones come as the list is scrolled
await list.evaluate((el) => { el.scrollTop = el.scrollHeight; });
await until(async () => Number((await page.locator('.count-line').innerText()).replace(/\D/g, '')) >= 200, 'older pages');
assert.ok(await page.locator('.row').count() < 80);
// all of them at once, as a stream that catches up brings them
await page.evaluate(async () => {
  const version = document.querySelector('script[type=module]').src.replace('app.js', '');
  const { stream } = await import(version + 'api.js');
  const { signals } = await import(version + 'store.js');
  signals.reset();
  signals.cursor = null;
  stream.start(0);
});
await until(async () => (await page.locator('.count-line').innerText()).startsWith('50,000'), '50,000 in the list');
assert.ok(await page.locator('.row').count() < 80);
await list.evaluate((el) => { el.scrollTop = 0; });
await list.focus();
await page.keyboard.press('End');
await sees('signal 0');
await page.keyboard.press('Home');
await sees('signal 49999');
for (let y = 0; y < 40; y++) {
  await list.evaluate((el, n) => { el.scrollTop = n * 61234; }, y);
  await until(() => list.evaluate((el) => [...el.querySelectorAll('.row')].some((r) => { const a = r.getBoundingClientRect(), b = el.getBoundingClientRect(); return a.top <= b.top + 1 && a.bottom > b.top; })), 'the rows that are in view are drawn');
}
await page.getByLabel('Text in the signal').fill('signal 31415');
await until(async () => (await page.locator('.row .one').allInnerTexts()).join() === 'signal 31415');
JS
}

@test "hostile texts in every field are shown as text, and nothing of them runs" {
    browse <<'JS'
const evil = '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'"><svg onload=alert(1)>';
const turned = 'abc\u202Egnp.exe', hidden = 'a\u200Bdmin';
const link = '[click](javascript:document.title="owned") [data](data:text/html,x) ![i](http://evil.example/i.png) <a href="javascript:1">x</a> [ok](https://example.org/)';
await emit({ signal_type: evil.slice(0, 200), content: evil + '\n\n# ' + evil + '\n\n' + link + '\n\n```\n' + evil + '\n```\n\n| ' + evil + ' |\n|---|\n| x |\n\n> ' + evil, tags: [evil.slice(0, 100), turned], metadata: { [evil]: evil }, payload: { x: evil }, resources: [{ kind: 'artifact', ref: evil }] });
await emit({ signal_type: 'turned', content: turned + ' ' + hidden });
await emit({ signal_type: 'long', content: 'x'.repeat(1000 * 1000) });
await emit({ signal_type: 'long', content: '*'.repeat(20000) + '[('.repeat(20000) + '`'.repeat(20000) + '_a'.repeat(20000) + '> '.repeat(20000) });
await api('POST', '/roles', { id: 'dev', name: evil, purpose: evil });
await api('POST', '/identities', { id: 'eve', name: evil, type: evil.slice(0, 60) });
await api('POST', '/v1/engine/signals/delayed', { type: evil.slice(0, 100), deliverAt: '+1h', data: evil, repeatKey: evil });
await api('POST', '/v1/engine/signals/subscribe', { pattern: evil.slice(0, 60).replace(/[:*]/g, '') });
await api('POST', '/leases', { project: evil.slice(0, 60), paths: ['src/a<b>.c'], reason: evil });
await api('POST', '/emit', { signal_type: 'alert', content: evil, to_identity: 'admin' });
await signIn('signals');
const dead = async () => {
  assert.ok(!(await page.title()).includes('owned'));
  assert.equal(await page.locator('main script, main img, main iframe, main [onerror], main [onload], main a[href^="javascript"], main a[href^="data"]').count(), 0);
};
await sees('onerror=');
await dead();
await page.locator('.row').filter({ hasText: 'onerror=' }).last().click();
await page.locator('.main .md').first().waitFor();
await page.locator('.main pre').filter({ hasText: 'document.title' }).first().waitFor();
assert.equal(await page.locator('.main a', { hasText: 'ok' }).getAttribute('rel'), 'noopener noreferrer');
await dead();
await page.locator('.row').filter({ hasText: 'turned' }).click();
await sees('abc‹202e›gnp.exe ‹a›'.slice(0, 15), page.locator('.row')); // in a list hidden characters are told
await page.locator('.row').filter({ hasText: 'xxxx' }).click();
await page.getByRole('button', { name: /^Show all/ }).click();
await until(async () => (await page.locator('.main .text').first().innerText()).length === 1000000, 'the whole text');
await page.locator('.row').filter({ hasText: '****' }).click();
await page.getByRole('button', { name: /^Show all/ }).waitFor();
for (const at of ['needs', 'signals/delayed', 'signals/subscriptions', 'signals/inbox', 'hub']) {
  await page.evaluate((h) => { location.hash = '#/' + h; }, at);
  await page.getByText('onerror=').or(page.getByText('scriptdocument')).or(page.getByText('<script')).first().waitFor();
  await dead();
}
JS
}

@test "hostile texts of rooms are text, too" {
    mkdir shop && cd shop
    "$CLIQ" init >/dev/null
    "$CLIQ" room create room-001 -m '<img src=x onerror=alert(1)> <script>alert(2)</script>' >/dev/null
    "$CLIQ" channel post --room room-001 --from qa --to engineer --type fail --ref '<svg onload=alert(3)>' \
        --body $'<script>alert(4)</script> [x](javascript:alert(5)) \u202Eabc\n\n* <iframe src=x>' >/dev/null
    printf '%s\n' '{"v":1,"id":"evil-1","ts":"2026-11-19T00:00:00Z","from":"<b>\u202eeve</b>","to":"<i>","type":"<u>","body":"<script>alert(6)</script>"}' >>.war-rooms/room-001/channel.jsonl
    browse <<'JS'
await signIn('rooms');
await page.getByRole('option').filter({ hasText: '<img src=x onerror=alert(1)>' }).click();
for (const t of ['alert(2)', '<script>alert(4)</script>', '<iframe src=x>', '<script>alert(6)</script>', '<b>‹202e›eve</b>']) await sees(t, page.locator('.talk'));
assert.equal(await page.locator('main script, main img, main iframe, main svg[onload], main .talk b b, main .talk u, main a[href^="javascript"]').count(), 0);
await open('Signals');
await sees('alert(4)');
assert.equal(await page.locator('main script, main img, main iframe').count(), 0);
JS
}

@test "hostile names and texts of runs are text, too" {
    agent a <<'END'
ok
printf '\033[31mred\033[0m <script>alert(1)</script>\n'
progress "<img src=x onerror=alert(1)>"
hand two '{"version":1,"phase":"one","data":{"<b>":"<script>1</script>"},"text":"<script>alert(1)</script> [x](javascript:alert(1))"}'
complete '{"summary":"<svg onload=alert(1)>"}'
END
    mkdir -p "$T/<img src=x onerror=alert(1)>"
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    run_is 3 || true
    RUN=$(id) browse <<'JS'
await signIn('runs/' + process.env.RUN + '/one/log');
await sees('red <script>alert(1)</script>');
await page.getByRole('link', { name: /^Handoffs/ }).click();
await page.locator('.md').filter({ hasText: '<script>alert(1)</script>' }).waitFor();
assert.equal(await page.locator('main script, main img, main a[href^="javascript"]').count(), 0);
JS
}
