/*
 * browser - what the scripts of test/web/*.bats have: a page in a real Chromium, signed in or not.
 *
 * A violation of the Content-Security-Policy, an uncaught error, an error on the console (but for refused
 * requests) and a request to another origin are failures of the test, whatever else it looks at.
 *
 * From web.bash: URL, KEY, T (the test's directory), SHOTS (where screenshots are kept), WEB_CACHE.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';

const { URL: base, KEY, T, SHOTS, WEB_CACHE } = process.env;
const require = createRequire(WEB_CACHE + '/node_modules/x.js');
const { chromium } = require('playwright-core');
const LIMIT = 15000;

const browser = await chromium.launchPersistentContext(T + '/browser', {
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  viewport: { width: 1280, height: 860 },
  timezoneId: 'UTC',
  locale: 'en-GB',
  permissions: ['notifications', 'clipboard-write', 'clipboard-read'],
});
export const problems = [];
const MAY = /Failed to load resource|net::ERR_/;

await browser.addInitScript(() => {
  addEventListener('securitypolicyviolation', (e) => console.error('CSP violation: ' + e.violatedDirective + ' ' + e.blockedURI));
});
function look(p) {
  p.setDefaultTimeout(LIMIT);
  p.on('console', (m) => { if (m.type() === 'error' && (!MAY.test(m.text()) || /Content.Security/i.test(m.text()))) problems.push('console: ' + m.text()); });
  p.on('pageerror', (e) => problems.push('uncaught: ' + e.message));
  p.on('request', (r) => { if (!r.url().startsWith(base + '/') && !/^(data|blob|about):/.test(r.url())) problems.push('a request to ' + r.url()); });
}
browser.on('page', look);
export const page = browser.pages()[0] || (await browser.newPage());
look(page);
export { assert, base, browser, KEY };

export const go = (hash = '') => page.goto(base + '/#/' + hash);
export async function signIn(hash = '', key = KEY) {
  await go(hash);
  await page.locator('#key').fill(key);
  await page.locator('#key').press('Enter');
  await page.locator('.line.live').waitFor();
}
export const sees = (text, where = page) => where.getByText(text).first().waitFor();
export const click = (name, where = page) => where.getByRole('button', { name, exact: true }).first().click();
export const open = (name) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
export const dialog = () => page.locator('dialog[open]');
export const count = (selector) => page.locator(selector).count();

/* Until it is true; a limit instead of a wait for ever. */
export async function until(fn, what = String(fn)) {
  const end = Date.now() + LIMIT;
  for (;;) {
    const v = await fn();
    if (v) return v;
    if (Date.now() > end) throw new Error('never came true: ' + what);
    await new Promise((r) => setTimeout(r, 25));
  }
}
export async function api(method, path, body, key = KEY) {
  const r = await fetch(base + path, { method, headers: { Authorization: 'Bearer ' + key, ...(body ? { 'Content-Type': 'application/json' } : {}) }, body: body && JSON.stringify(body) });
  const doc = await r.json().catch(() => null);
  return { status: r.status, ...doc };
}
export const emit = async (body, key) => (await api('POST', '/emit', body, key)).data;

/* A screenshot that stays for people to look at. */
export async function shot(name) {
  fs.mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, animations: 'disabled' });
}
/* axe-core finds nothing serious. */
export async function accessible(what) {
  await page.evaluate(fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const bad = found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
  assert.deepEqual(bad.map((v) => `${what}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message || '')).join(' | ')}`), []);
}

export async function done() {
  await browser.close();
  assert.deepEqual(problems, []);
}
