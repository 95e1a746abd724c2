#!/usr/bin/env bats
# CliqClient of @cliqhub/cliq-sdk in a page of the server's own origin: its calls, a worker, and a subscription that outlives
# the server.
load web

@test "CliqClient works in a browser, also over a kill of the server" {
    export CLIENT_JS=$ROOT/sdk-js/client.js
    browsing <<'JS'
await page.route('**/client-of-the-test.js', (r) => r.fulfill({ path: process.env.CLIENT_JS, contentType: 'text/javascript' }));
await go();
await page.evaluate(async ({ base, key }) => {
  const { CliqClient, CliqClientError } = await import('/client-of-the-test.js');
  const is = (want, got) => { if (JSON.stringify(want) !== JSON.stringify(got)) throw new Error(`want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`); };
  const hub = new CliqClient({ url: base, key });
  const task = await hub.emit({ signal_type: 'task', content: 'é' });
  const worker = hub.work({ types: ['task'] }, (t) => {
    is('é', t.content);
    worker.stop();
  });
  await worker.done;
  is('acked', (await hub.get(task)).delivery_state);
  is(409, await hub.claim({ signal_id: task.id }).catch((e) => e instanceof CliqClientError && e.status));
  globalThis.heard = [];
  globalThis.opened = 0;
  globalThis.news = hub.signals.subscribe({ type: 'n', since: 0 }, (s) => heard.push(Number(s.content)), { on_state: (lost) => { opened += !lost; } });
  globalThis.hub = hub;
}, { base, key: KEY });
for (let n = 1; n <= 20; n++) await emit({ signal_type: 'n', content: String(n) });
await until(() => page.evaluate(() => heard.length === 20));
fs.writeFileSync(process.env.T + '/ready', '');
await until(() => fs.existsSync(process.env.T + '/again'));
await page.evaluate(() => Promise.all(Array.from({ length: 20 }, (_, i) => hub.emit({ signal_type: 'n', content: String(21 + i) }))));
await until(() => page.evaluate(() => heard.length >= 40));
assert.deepEqual(await page.evaluate(() => [heard.slice(0, 20), heard.toSorted((a, b) => a - b), opened]),
  [Array.from({ length: 20 }, (_, i) => i + 1), Array.from({ length: 40 }, (_, i) => i + 1), 2]);
await page.evaluate(() => news.close().then(() => news.closed));
JS
    until_true exists_or_ended "$T/ready"
    kill -KILL "$SERVER"
    wait "$SERVER" || true
    boot "$PORT"
    : >"$T/again"
    browsed
}
exists_or_ended() { [ -e "$1" ] || ! kill -0 "$BROWSER" 2>/dev/null; }
