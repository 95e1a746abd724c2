/*
 * page - how fast the page is, in a real Chromium: `make && tools/deps web && node bench/page.mjs`.
 *
 *     paint        first contentful paint, of a server that just started
 *     interactive  until the page is signed in, live, and shows its list
 *     visible      from POST /emit to the row in the stream, drawn
 *     longest      task of the page, while 1,000 signals a second come for SECONDS (30)
 *     memory       of the server, for each open page
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';

const cache = process.env.CLIQ_WEB_CACHE || `${process.env.XDG_CACHE_HOME || os.homedir() + '/.cache'}/cliq-web`;
const { chromium } = createRequire(cache + '/node_modules/x.js')('playwright-core');
const SECONDS = Number(process.env.SECONDS || 30);
const dir = fs.mkdtempSync(os.tmpdir() + '/cliq-page.');
const env = { ...process.env, CLIQ_HOME: dir, HOME: dir };
const cliq = new URL('../build/cliq', import.meta.url).pathname;
const part = (list, p) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(p * list.length))];
const ms = (v) => v.toFixed(1) + ' ms';

function serve() {
  return new Promise((resolve) => {
    const child = spawn(cliq, ['serve', '--listen', '127.0.0.1:0'], { env });
    child.stdout.on('data', (d) => {
      const m = /listening on (\S+)/.exec(d);
      if (m) resolve({ url: m[1], pid: child.pid, end: () => child.kill() });
    });
  });
}
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
const paints = [], ready = [];
let server;
for (let i = 0; i < 7; i++) {
  server?.end();
  server = await serve();
  const key = fs.readFileSync(dir + '/admin.key', 'utf8').trim();
  const context = await browser.newContext();
  await context.addInitScript((k) => {
    sessionStorage.setItem('cliq.key', k);
    new MutationObserver(() => {
      if (!globalThis.ready && document.querySelector('.line.live') && document.querySelector('.count-line')?.textContent) globalThis.ready = performance.now();
    }).observe(document, { childList: true, subtree: true, characterData: true });
  }, key);
  const page = await context.newPage();
  await page.goto('about:blank');
  await page.goto(server.url + '/#/signals');
  await page.waitForFunction(() => globalThis.ready && performance.getEntriesByName('first-contentful-paint').length);
  const [paint, at] = await page.evaluate(() => [performance.getEntriesByName('first-contentful-paint')[0].startTime, globalThis.ready]);
  paints.push(paint);
  ready.push(at);
  await context.close();
}
console.log(`paint        median ${ms(part(paints, 0.5))}, worst ${ms(Math.max(...paints))}`);
console.log(`interactive  median ${ms(part(ready, 0.5))}, worst ${ms(Math.max(...ready))}`);

const key = fs.readFileSync(dir + '/admin.key', 'utf8').trim(), headers = { Authorization: 'Bearer ' + key, 'Content-Type': 'application/json' };
const before = rss(server.pid), streams = [];
for (let i = 0; i < 50; i++) streams.push(await fetch(server.url + '/signals/stream?changes=true', { headers }));
console.log(`memory       ${((rss(server.pid) - before) / 50).toFixed(1)} kB a page`);
for (const s of streams) await s.body.cancel();

const page = await browser.newPage();
await page.addInitScript((k) => { sessionStorage.setItem('cliq.key', k); }, key);
await page.goto(server.url + '/#/signals');
await page.waitForSelector('.line.live');
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
  await fetch(server.url + '/emit', { method: 'POST', headers, body: JSON.stringify({ signal_type: 'pulse', content: 'at ' + Date.now() }) });
  await new Promise((r) => setTimeout(r, 10));
}
await page.waitForTimeout(500);
const delays = await page.evaluate(() => globalThis.delays);
console.log(`visible      median ${part(delays, 0.5)} ms, 95 % within ${part(delays, 0.95)} ms (${delays.length} signals)`);

await page.evaluate(() => { new PerformanceObserver((l) => l.getEntries().forEach((e) => globalThis.tasks.push(e.duration))).observe({ entryTypes: ['longtask'] }); });
const end = Date.now() + SECONDS * 1000;
let n = 0;
while (Date.now() < end) {
  const due = Date.now() + 50;
  await fetch(server.url + '/emit/batch', { method: 'POST', headers, body: JSON.stringify({ signals: Array.from({ length: 50 }, () => ({ signal_type: 'load', content: 'signal ' + n++ })) }) });
  await new Promise((r) => setTimeout(r, Math.max(0, due - Date.now())));
}
await page.waitForTimeout(1000);
const tasks = await page.evaluate(() => globalThis.tasks), shown = await page.locator('.count-line').innerText();
console.log(`longest      ${tasks.length ? Math.max(...tasks) + ' ms' : 'below 50 ms'}, ${tasks.length} above 50 ms; ${n} signals in ${SECONDS} s; the page: ${shown}`);
await browser.close();
server.end();
fs.rmSync(dir, { recursive: true });
