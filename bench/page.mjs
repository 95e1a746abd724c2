/*
 * page - how fast the page is, in a real Chromium: `tools/deps web && bench/run page`.
 *
 *     paint        first contentful paint, of a server that just started
 *     interactive  until the page is signed in, live, and shows its list
 *     visible      from POST /emit to the row in the stream, drawn: of 200, the 95 % that are faster
 *     longest task of the page, while 1,000 signals a second come for PAGE_SECONDS (30)
 *     memory       of the server, for each open page
 *
 * The peer, in turns with ours in the same browser: a bare server that answers a page of one line and one
 * script, which reads a stream and appends a line for each event. It keeps nothing, and knows no keys.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';

const cache = process.env.CLIQ_WEB_CACHE || `${process.env.XDG_CACHE_HOME || os.homedir() + '/.cache'}/cliq-web`;
const browserPath = process.env.CHROMIUM || '/usr/bin/chromium';
let chromium;
try {
  ({ chromium } = createRequire(cache + '/node_modules/x.js')('playwright-core'));
  fs.accessSync(browserPath);
} catch {
  console.log('note\tpage: not measured, no Chromium or no playwright-core: tools/deps web');
  process.exit(0);
}
const SECONDS = Number(process.env.PAGE_SECONDS || 30);
const dir = fs.mkdtempSync(os.tmpdir() + '/cliq-page.');
const env = { ...process.env, CLIQ_HOME: dir, HOME: dir };
const cliq = process.argv[2] || new URL('../build/cliq', import.meta.url).pathname;
const part = (list, p) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(p * list.length))];
const ms = (v) => (v < 10 ? v.toFixed(1) : Math.round(v)) + ' ms';
/* As bench/run prints it. */
const row = (work, ours, peer, most) => console.log(['row', work, ms(ours), ms(peer), (ours / Math.max(peer, 0.1)).toFixed(2) + ' x', '<= ' + most + ' ms', ours <= most ? 'ok' : 'MISS'].join('\t'));

/* The peer. */
const listeners = new Set();
const bare = http.createServer((req, res) => {
  if (req.url === '/stream') {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write(': ready\n\n');
    listeners.add(res);
    req.on('close', () => listeners.delete(res));
  } else if (req.method === 'POST') {
    let body = '';
    req.on('data', (d) => { body += d; }).on('end', () => {
      for (const l of listeners) l.write(`data: ${body}\n\n`);
      res.end('{}');
    });
  } else if (req.url === '/script.js') {
    res.setHeader('Content-Type', 'text/javascript');
    res.end(`const reader = (await fetch('/stream')).body.getReader(), decoder = new TextDecoder();
      document.body.dataset.live = 1;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (const m of decoder.decode(value).matchAll(/^data: (.*)$/gm)) {
          const row = document.createElement('p');
          row.className = 'one';
          row.textContent = JSON.parse(m[1]).content;
          list.prepend(row);
        }
      }`);
  } else {
    res.setHeader('Content-Type', 'text/html');
    res.end('<!doctype html><title>bare</title><p>a line</p><div id=list class="list row"></div><script type=module src=/script.js></script>');
  }
});
await new Promise((resolve) => bare.listen(0, '127.0.0.1', resolve));
const bareUrl = 'http://127.0.0.1:' + bare.address().port;

function serve() {
  return new Promise((resolve) => {
    const child = spawn(cliq, ['serve', '--listen', '127.0.0.1:0'], { env });
    child.stdout.on('data', (d) => {
      const m = /listening on (\S+)/.exec(d);
      if (m) resolve({ url: m[1], pid: child.pid, end: () => new Promise((ended) => { child.once('exit', ended); child.kill(); }) });
    });
  });
}
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

const browser = await chromium.launch({ executablePath: browserPath, args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });

/* Opens the address in a browser without a cache; the times of its paint, and when it was live. */
async function opened(url, key) {
  const context = await browser.newContext();
  await context.addInitScript((k) => {
    if (k) sessionStorage.setItem('cliq.key', k);
    new MutationObserver(() => {
      const isLive = document.body?.dataset.live || (document.querySelector('.line.live') && document.querySelector('.count-line')?.textContent);
      if (isLive) globalThis.ready ??= performance.now();
    }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  }, key);
  const page = await context.newPage();
  await page.goto('about:blank');
  await page.goto(url);
  await page.waitForFunction(() => globalThis.ready && performance.getEntriesByName('first-contentful-paint').length);
  const times = await page.evaluate(() => [performance.getEntriesByName('first-contentful-paint')[0].startTime, globalThis.ready]);
  await context.close();
  return times;
}
const paints = [[], []], ready = [[], []];
let server;
for (let i = 0; i < 7; i++) {
  await server?.end();
  server = await serve();
  const key = fs.readFileSync(dir + '/admin.key', 'utf8').trim();
  for (const [k, times] of [[0, await opened(server.url + '/#/signals', key)], [1, await opened(bareUrl + '/')]]) {
    paints[k].push(times[0]);
    ready[k].push(times[1]);
  }
}
row('page: first paint, a server just started', part(paints[0], 0.5), part(paints[1], 0.5), 100);
row('page: signed in, live, its list shown', part(ready[0], 0.5), part(ready[1], 0.5), 200);

const key = fs.readFileSync(dir + '/admin.key', 'utf8').trim(), headers = { Authorization: 'Bearer ' + key, 'Content-Type': 'application/json' };

const before = rss(server.pid), streams = [];
for (let i = 0; i < 50; i++) streams.push(await fetch(server.url + '/signals/stream?changes=true', { headers }));
const each = Math.max(0, rss(server.pid) - before) / 50;
console.log(['row', 'page: memory of the server for an open one', each.toFixed(1) + ' KB', '-', '-', '<= 200 KB', each <= 200 ? 'ok' : 'MISS'].join('\t'));
for (const s of streams) await s.body.cancel();

/* How long from a POST until its row is drawn, for 200 of them. */
async function visible(url, path, live, init) {
  const page = await browser.newPage();
  if (init) await page.addInitScript((k) => { sessionStorage.setItem('cliq.key', k); }, key);
  await page.goto(url);
  await page.waitForSelector(live);
  await page.evaluate(() => {
    globalThis.delays = [];
    globalThis.tasks = [];
    const seen = new Set();
    new MutationObserver(() => {
      for (const r of document.querySelectorAll('.row .one')) {
        const m = /^at (\d+)/.exec(r.textContent);
        if (m && !seen.has(m[0])) {
          seen.add(m[0]);
          requestAnimationFrame(() => globalThis.delays.push(Date.now() - Number(m[1])));
        }
      }
    }).observe(document.querySelector('.list'), { childList: true, subtree: true, characterData: true });
  });
  for (let i = 0; i < 200; i++) {
    await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify({ signal_type: 'pulse', content: 'at ' + Date.now() }) });
    await new Promise((r) => setTimeout(r, 10));
  }
  /* two of a millisecond are one */
  await page.waitForFunction(() => globalThis.delays.length >= 190);
  return { page, p95: part(await page.evaluate(() => globalThis.delays), 0.95) };
}
const peer = await visible(bareUrl + '/', '/emit', 'body[data-live]');
await peer.page.close();
const { page, p95 } = await visible(server.url + '/#/signals', '/emit', '.line.live', true);
row('page: emit to visible, p95', p95, peer.p95, 50);

await page.evaluate(() => { new PerformanceObserver((l) => l.getEntries().forEach((e) => globalThis.tasks.push(e.duration))).observe({ entryTypes: ['longtask'] }); });
const end = Date.now() + SECONDS * 1000;
let n = 0;
while (Date.now() < end) {
  const due = Date.now() + 50;
  await fetch(server.url + '/emit/batch', { method: 'POST', headers, body: JSON.stringify({ signals: Array.from({ length: 50 }, () => ({ signal_type: 'load', content: 'signal ' + n++ })) }) });
  await new Promise((r) => setTimeout(r, Math.max(0, due - Date.now())));
}
await page.waitForFunction((m) => Number(/^[\d,.]+/.exec(document.querySelector('.count-line').textContent)[0].replace(/\D/g, '')) >= m, n); /* none is left out */
const tasks = await page.evaluate(() => globalThis.tasks);
const most = Math.max(0, ...tasks); /* shorter ones than 50 ms are not told */
console.log(['row', `page: longest task at ${Math.round(n / SECONDS)} signals/s`, most ? ms(most) : '< 50 ms', '-', '-', '<= 50 ms', most <= 50 ? 'ok' : 'MISS'].join('\t'));

await browser.close();
await server.end();
bare.closeAllConnections();
bare.close();
fs.rmSync(dir, { recursive: true });
