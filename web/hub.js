/*
 * hub - the page Hub: how fast and how large it is, and who takes part: keys, identities, roles, rings, leases.
 */
import { can, get, latencies, mayRead, me, post, stream, text } from './api.js';
import { act, button, chip, confirm, dialog, empty, field, h, input, put, redraw, select, table, toast } from './dom.js';
import { loadNames, names, throttle, watch } from './store.js';
import { clean, now, number, oneLine, size, time } from './text.js';

const SCOPES = ['emit', 'claim', 'ack', 'inbox', 'stream', 'teams', 'review', 'audit', 'admin'];
const STATES = ['pending', 'leased', 'failed', 'dead_letter', 'expired', 'acked'];

/* How long from a signal's time to its arrival here, for signals of the last minutes. */
const delays = [];
stream.on('signals', (list) => {
  for (const s of list.slice(-20)) {
    const ms = now() - Date.parse(s.created_at);
    if (ms > -1000 && ms < 10000) delays.push(Math.max(0, ms));
  }
  if (delays.length > 500) delays.splice(0, 250);
});
const part = (list, p) => {
  if (!list.length) return undefined;
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
};
const ms = (v) => (v === undefined ? '–' : v < 10 ? v.toFixed(1) + ' ms' : Math.round(v) + ' ms');

function parse(metrics) {
  const out = {};
  for (const l of metrics.split('\n')) {
    const m = /^cliq_([a-z_]+)(?:\{\w+="(\w+)"\})? ([\d.]+)$/.exec(l);
    if (m) out[m[2] ? m[1] + '.' + m[2] : m[1]] = Number(m[3]);
  }
  return out;
}

export function hubPage(root) {
  const numbers = h('div', {}), people = h('div', {}), leases = h('div', {}), keys = h('div', {});
  put(root, h('div', { class: 'scroll-y page' }, h('div', { class: 'page-head' }, h('h1', {}, 'Hub'), h('span', { class: 'quiet' }, 'cliq ' + clean(me.version))), numbers, keys, people, leases));
  let before = null;

  async function measure() {
    if (!mayRead()) return;
    const m = parse(await text('/metrics')), t = performance.now(), dt = before ? (t - before.t) / 1000 : 0;
    const rate = (k) => (before && dt >= 0.8 ? Math.max(0, (m[k] - before.m[k]) / dt) : undefined);
    const r = (v) => (v === undefined ? '–' : v < 10 ? v.toFixed(1) : number(Math.round(v)));
    const card = (label, value, more) => h('div', { class: 'stat' }, h('dt', {}, label), h('dd', {}, h('b', {}, value), h('small', {}, more)));
    const total = STATES.reduce((sum, k) => sum + (m['signals_by_state.' + k] || 0), 0) || 1;
    put(numbers, h('dl', { class: 'stats' },
      card('Signals', number(m.signals || 0), r(rate('sequence')) + ' lines a second'),
      card('Requests', r(rate('http_requests_total')) + ' /s', number(m['http_answers_total.5xx'] || 0) + ' server errors, ' + number(m.http_limited_total || 0) + ' limited'),
      card('Answers', ms(part(latencies, 0.5)), '95 % within ' + ms(part(latencies, 0.95)) + ', seen from here'),
      card('Emit to screen', ms(part(delays, 0.5)), delays.length ? '95 % within ' + ms(part(delays, 0.95)) : 'no signal has come yet'),
      card('Log', size(m.log_bytes || 0), 'line ' + number(m.sequence || 0) + (m.log_bad_lines ? ', ' + number(m.log_bad_lines) + ' damaged' : '')),
      card('Streams', number(m.stream_clients || 0), number(m.claims_waiting || 0) + ' claims wait, ' + number(m.delayed_signals || 0) + ' delayed')),
    h('div', { class: 'shares', role: 'img', 'aria-label': 'Signals by state: ' + STATES.map((k) => `${k.replace('_', ' ')} ${m['signals_by_state.' + k] || 0}`).join(', ') }, STATES.filter((k) => m['signals_by_state.' + k]).map((k) => {
      const el = h('span', { class: 'share s-' + k, title: k });
      el.style.flexGrow = (m['signals_by_state.' + k] || 0) / total;
      return el;
    })),
    h('ul', { class: 'legend' }, STATES.filter((k) => m['signals_by_state.' + k]).map((k) => h('li', {}, h('span', { class: 'dot s-' + k }), ` ${k.replace('_', ' ')} `, h('b', {}, number(m['signals_by_state.' + k]))))));
    if (!before || dt >= 1) before = { m, t };
  }

  /* ---- tables ---- */

  const section = (title, more, body) => h('section', {}, h('div', { class: 'page-head' }, h('h2', {}, title), h('span', { class: 'grow' }), more), body);

  async function people1() {
    await loadNames();
    const group = (title, kind, list, add, join) => section(title, can('admin') ? [button('Add ' + kind, () => dialog('Add ' + kind, [field('Name', input('id', { required: true, pattern: '[A-Za-z0-9._\\-]{1,64}' }), 'letters, digits . _ -'), field('What it is for', input('purpose'))], { label: 'Add', submit: (v) => post(add, { id: v.id, ...(v.purpose ? { purpose: v.purpose } : {}) }) }).then(people1))] : null,
      list.length ? table([kind === 'role' ? 'Role' : 'Ring', 'For', kind === 'role' ? 'Held by' : 'Members', ''], list.map((g) => h('tr', {}, h('td', {}, h('b', {}, clean(g.id))), h('td', { dir: 'auto' }, oneLine(g.purpose || '', 120)), h('td', {}, (g.members || []).map((x) => chip(clean(x)))),
        h('td', {}, can('admin') ? button(kind === 'role' ? 'Give to…' : 'Let in…', () => dialog(kind === 'role' ? `Who holds ${clean(g.id)}?` : `Who joins ${clean(g.id)}?`, field('Identity', h('input', { name: 'identity', required: true, list: 'people', autocomplete: 'off' }), 'made if it is new'), { label: kind === 'role' ? 'Give' : 'Let in', submit: (v) => post(join, { identity: v.identity, [kind]: g.id }) }).then(people1), { class: 'small', 'aria-label': (kind === 'role' ? 'Give to… ' : 'Let in… ') + g.id }) : null)))) : empty(`No ${kind} yet.`));
    redraw(people, JSON.stringify(names), () => [h('datalist', { id: 'people' }, names.identities.map((i) => h('option', { value: i.id }))),
      section('Identities', can('admin') ? button('Add identity', () => dialog('Add identity', [field('Name', input('id', { required: true })), field('Kind', select('type', [['human', 'human'], ['agent', 'agent'], ['', 'other']], 'human'))], { label: 'Add', submit: (v) => post('/identities', { id: v.id, ...(v.type ? { type: v.type } : {}) }) }).then(people1)) : null,
        names.identities.length ? table(['Identity', 'Kind', 'Roles', 'Rings', 'Agent'], names.identities.map((i) => h('tr', {}, h('td', {}, h('b', {}, clean(i.id)), i.id === me.identity ? ' (you)' : ''), h('td', {}, oneLine(i.type || '', 40)), h('td', {}, (i.roles || []).map((x) => chip(clean(x)))), h('td', {}, (i.rings || []).map((x) => chip(clean(x)))), h('td', { dir: 'auto' }, oneLine(i.agent || '', 60))))) : empty('No identity yet.')),
      group('Roles', 'role', names.roles, '/roles', '/fills'), group('Rings', 'ring', names.rings, '/rings', '/joins')]);
  }

  async function keys1() {
    if (!can('admin')) return;
    const list = await get('/keys');
    redraw(keys, JSON.stringify(list), () => section('Keys', button('Create key', () => createKey().then(keys1)),
      table(['Whose', 'Allows', 'Made', 'Ends', ''], list.map((k) => h('tr', {}, h('td', {}, h('b', {}, clean(k.identity)), k.id === me.key ? ' (this page)' : ''), h('td', {}, k.scopes.map((x) => chip(x))), h('td', {}, time(k.created_at), k.created_by ? ' by ' + clean(k.created_by) : ''), h('td', {}, k.expires_at ? time(k.expires_at) : 'never'),
        h('td', {}, button('Revoke', () => confirm(`Revoke the key of ${clean(k.identity)}?`, k.id === me.key ? 'This page uses it: you will be signed out.' : 'It ends at once, with its streams.', 'Revoke', () => post('/keys/revoke', { id: k.id })).then(keys1), { class: 'small danger', 'aria-label': 'Revoke the key of ' + k.identity })))))));
  }
  async function createKey() {
    const made = await dialog('Create key', [field('Whose', h('input', { name: 'identity', required: true, list: 'people', autocomplete: 'off' }), 'made if it is new'),
      h('fieldset', {}, h('legend', {}, 'What it allows'), SCOPES.map((x) => h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'scope-' + x, checked: !['audit', 'admin'].includes(x) }), ' ' + x))),
      field('Ends', select('ttl', [['', 'never'], ['43200', 'in 12 hours'], ['604800', 'in a week'], ['2592000', 'in 30 days'], ['31536000', 'in a year']], ''))], {
      label: 'Create',
      submit: (v) => post('/keys', { identity: v.identity, scopes: SCOPES.filter((x) => v['scope-' + x]), ...(v.ttl ? { ttl_seconds: Number(v.ttl) } : {}) }),
    });
    if (!made) return;
    const shown = input('key', { readonly: true, value: made.key, class: 'code', 'aria-label': 'The key' });
    await dialog('The key of ' + clean(made.identity), [h('p', {}, 'It is shown this once: keep it now.'), shown, button('Copy', () => navigator.clipboard.writeText(made.key).then(() => toast('Copied'), () => shown.select()), {})]);
  }

  async function leases1() {
    if (!mayRead()) return;
    const list = await get('/leases');
    redraw(leases, JSON.stringify(list), () => section('Leased files', null, list.length ? table(['File', 'Project', 'Holder', 'Ends', 'Why', ''], list.map((l) => h('tr', {}, h('td', {}, h('code', { dir: 'auto' }, oneLine(l.path, 120))), h('td', { dir: 'auto' }, oneLine(l.project, 60)), h('td', {}, clean(l.holder)), h('td', {}, time(l.expires_at)), h('td', { dir: 'auto' }, oneLine(l.reason || '', 100)),
      h('td', {}, can('claim') && (can('admin') || l.holder === me.identity) ? button('End', (b) => act(b, () => post('/leases/release', { project: l.project, paths: [l.path], ...(l.holder === me.identity ? {} : { holder: l.holder }) }), 'Ended').then(leases1), { class: 'small' }) : null)))) : empty('No file is leased.')));
  }

  const all = () => Promise.allSettled([measure(), people1(), keys1(), leases1()]);
  const looking = watch(all, 2000);
  all();
  setTimeout(() => root.isConnected && measure().catch(() => {}), 1200);
  const beat = throttle(measure, 2000), timer = setInterval(beat, 2500);
  return {
    route: () => 'Hub',
    stop() {
      looking.stop();
      clearInterval(timer);
    },
  };
}
