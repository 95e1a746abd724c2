/*
 * needs - what waits for a person: one list, newest first, each with its one or two buttons.
 *
 * Reviews, runs that stopped, dead letters, tasks that came back because a lease expired, alerts, tasks
 * for oneself, agents that have said nothing for long, and rooms that wait for a person. `inbox` keeps the list up to date on every page,
 * for the number in the title and for notifications.
 */
import { at, can, get, mayRead, me, post } from './api.js';
import { act, button, confirm, empty, h, link, mark, put, redraw, toast } from './dom.js';
import { reviewPanel } from './review.js';
import { nameOf } from './runs.js';
import { watch } from './store.js';
import { clean, duration, now, oneLine, plural, time } from './text.js';

const QUIET_MS = 5 * 60000, DISMISSED = 'cliq.dismissed', NOTIFY = 'cliq.notify';
const kept = (key) => { try { return JSON.parse(localStorage.getItem(key)) || []; } catch { return []; } };
const keep = (key, v) => { try { localStorage.setItem(key, JSON.stringify(v)); } catch { /* then until the page is closed */ } };

/* ---- the sources ---- */

async function reviews() {
  if (!can('review')) return [];
  return (await get('/reviews', { state: 'open' })).map((r) => ({
    id: 'review ' + r.id, at: r.since, kind: 'review', state: 'waiting', to: 'needs/review/' + encodeURIComponent(r.id),
    title: [h('b', {}, clean(r.gate)), ' of ', clean(r.team), ' waits for a decision'],
    text: `${nameOf(r.project)} · iteration ${r.iteration} of ${r.max_iterations} · for ${r.awaits.map(clean).join(', ')}`,
    buttons: [['Look', (b, e, go) => go(), 'primary'], !r.awaits.includes(me.identity) ? null : ['Approve', (b) => confirm(`Approve ${clean(r.gate)}?`, 'The gate passes, and the run goes on.', 'Approve', () => post(at('reviews', r.id, 'approve'), {})).then(() => { b.disabled = false; })]],
  }));
}

async function runs() {
  if (!can('audit')) return [];
  const list = (await get('/runs', { limit: 200 })).filter((r) => r.is_present), found = [];
  for (const r of list) {
    const to = 'runs/' + encodeURIComponent(r.run);
    if (['ESCALATED', 'FAILED', 'INTERRUPTED'].includes(r.status))
      found.push({
        id: `run ${r.run} ${r.status} ${r.duration_ms}`, at: new Date(Date.parse(r.started) + (r.duration_ms || 0)).toISOString(), kind: r.status === 'ESCALATED' ? 'escalation' : 'run', state: r.status, to, dismiss: true,
        title: [h('b', {}, nameOf(r.path)), { ESCALATED: ' asks for a person', FAILED: ' failed', INTERRUPTED: ' was cut off' }[r.status]],
        text: oneLine(r.reason || r.team || ''),
        buttons: [['Open', (b, e, go) => go(), 'primary'], r.status === 'INTERRUPTED' && can('admin') ? ['Resume', (b) => act(b, () => post(at('runs', r.run, 'resume'), {}), 'The run goes on')] : null],
      });
    if (r.status === 'RUNNING') found.push(...await quiet(r, to));
  }
  return found;
}

/* Agents at work that have written nothing for long. */
async function quiet(r, to) {
  const run = await get(at('runs', r.run));
  return run.phases.filter((p) => p.heard && now() - Date.parse(p.heard) > QUIET_MS).map((p) => ({
    id: `quiet ${r.run} ${p.phase} ${p.attempts}`, at: p.heard, kind: 'silence', state: 'stale', to: to + '/' + encodeURIComponent(p.phase) + '/log',
    title: [h('b', {}, clean(p.agent || p.phase)), ' has said nothing for ', duration(now() - Date.parse(p.heard))],
    text: `${nameOf(r.path)} · ${clean(p.phase)}, attempt ${p.attempts}`,
    buttons: [['Open log', (b, e, go) => go(), 'primary'], can('admin') ? ['Cancel run', () => confirm('Cancel this run?', 'Its agents are stopped.', 'Cancel run', () => post(at('runs', r.run, 'cancel'), {})), 'danger'] : null],
  }));
}

const signalItem = (s, kind, state, title, buttons) => ({ id: kind + ' ' + s.id + ' ' + s.delivery_count, at: s.created_at, kind, state, to: 'signals/s/' + encodeURIComponent(s.id), title, text: kind === 'dead letter' || kind === 'lease' ? `${oneLine(s.signal_type, 60)} from ${clean(s.from_role || s.from_identity || 'system')}` : oneLine(s.content ?? (s.payload === null ? '' : JSON.stringify(s.payload))), buttons });
const settle = (s) => ['Resolve', (b) => act(b, () => post('/inbox/resolve', { signal_id: s.id }), 'Resolved')];
const later = (s) => ['In an hour', (b) => act(b, () => post('/inbox/snooze', { signal_id: s.id, until: '+1h' }), 'Hidden for an hour')];
async function finish(s) {
  if (s.task_status !== 'in_progress') await post('/status', { signal_id: s.id, task_status: 'in_progress' });
  return post('/status', { signal_id: s.id, task_status: 'done' });
}
const claim = (s) => (can('claim') ? ['Claim', (b) => act(b, () => post('/claim', { signal_id: s.id }), 'It is yours for five minutes'), 'primary'] : null);

async function dead() {
  if (!mayRead()) return [];
  return (await get('/signals/list', { delivery_state: 'dead_letter', limit: 100 })).map((s) => signalItem(s, 'dead letter', 'dead_letter',
    [h('b', {}, oneLine(s.content || s.signal_type, 80)), ` failed ${plural(s.delivery_count, 'time')} and was given up`],
    [can('claim') ? ['Requeue', (b) => act(b, () => post('/requeue', { signal_id: s.id }), 'It can be claimed again'), 'primary'] : null, ['Open', (b, e, go) => go()]]));
}
async function expired() {
  if (!mayRead()) return [];
  return (await get('/signals/list', { task_status: 'open', limit: 100 })).filter((s) => s.delivery_count > 0 && s.delivery_state === 'pending').map((s) => signalItem(s, 'lease', 'expired',
    [h('b', {}, oneLine(s.content || s.signal_type, 80)), s.delivery_count === 1 ? ' came back: its lease expired' : ` came back ${s.delivery_count} times`],
    [claim(s), ['Open', (b, e, go) => go()]]));
}
/* Alerts to everyone are in no inbox: those of a day, until they are dismissed here. */
async function mine() {
  if (!can('inbox')) return [];
  const [list, alerts] = await Promise.all([get('/inbox/@', { limit: 100 }), get('/signals/list', { type: 'alert', delivery_state: 'pending', limit: 50 })]);
  const own = new Set(list.map((s) => s.id)), common = alerts.filter((s) => !own.has(s.id) && !s.to_identity && !s.to_role && !s.to_ring && now() - Date.parse(s.created_at) < 86400000);
  return mineOf(list).concat(common.map((s) => ({ ...signalItem(s, 'alert', 'escalated', alertTitle(s), [['Open', (b, e, go) => go(), 'primary']]), dismiss: true })));
}
const alertTitle = (s) => [h('b', {}, 'Alert'), ' from ' + clean(s.from_role || s.from_identity || 'unknown')];
function mineOf(list) {
  return list.filter((s) => s.signal_type === 'alert' || (s.task_status && s.task_status !== 'done' && s.to_identity === me.identity && !s.tags.includes('review') && s.signal_type !== 'review')).map((s) => (s.signal_type === 'alert'
    ? signalItem(s, 'alert', 'escalated', alertTitle(s), [settle(s), later(s)])
    : signalItem(s, 'task', s.task_status, [h('b', {}, 'A task for you'), s.from_identity ? ' from ' + clean(s.from_identity) : ''], [s.task_status === 'open' ? claim(s) : ['Done', (b) => act(b, () => finish(s), 'Done'), 'primary'], ['Open', (b, e, go) => go()]])));
}

/* Rooms in which a person plays the role that is awaited. */
async function rooms() {
  if (!mayRead()) return [];
  return (await get('/rooms')).filter((r) => r.role && r.player === 'person' && r.state !== 'pending').map((r) => {
    const to = 'rooms/' + encodeURIComponent(r.project || '-') + '/' + encodeURIComponent(r.room);
    return {
      id: `room ${to} ${r.state} ${r.since}`, at: r.since || r.last?.ts, kind: 'room', state: 'waiting', to, dismiss: true,
      title: [h('b', {}, oneLine(r.title || r.room, 80)), ' waits for a person as ', clean(r.role)],
      text: [r.path ? nameOf(r.path) : '', clean(r.room), clean(r.state)].filter(Boolean).join(' · '),
      buttons: [['Open', (b, e, go) => go(), 'primary']],
    };
  });
}

/* ---- the list, on every page ---- */

export const inbox = {
  items: null,
  problem: '',
  listeners: new Set(),
  seen: null,

  async look() {
    const sources = [reviews, runs, dead, expired, mine, rooms], parts = await Promise.allSettled(sources.map((fn) => fn()));
    if (!me) return;
    const gone = new Set(kept(DISMISSED)), found = new Map();
    for (const p of parts) if (p.status === 'fulfilled') for (const i of p.value) if (!gone.has(i.id)) found.set(i.id, i);
    this.problem = parts.find((p) => p.status === 'rejected')?.reason.message || '';
    this.items = [...found.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
    if (this.seen) for (const i of this.items) if (!this.seen.has(i.id)) notify(i);
    this.seen = new Set(this.items.map((i) => i.id));
    for (const fn of this.listeners) fn();
  },

  start(after_ms) {
    this.items = this.seen = null;
    this.first = setTimeout(() => {
      this.watch = watch(() => this.look(), 1000, () => true, true);
      this.watch.now();
    }, after_ms);
    this.timer = setInterval(() => this.watch?.now(), 60000); /* silence makes no event */
  },

  stop() {
    this.watch?.stop();
    clearTimeout(this.first);
    clearInterval(this.timer);
  },

  dismiss(item) {
    keep(DISMISSED, kept(DISMISSED).concat(item.id).slice(-500));
    this.items = this.items.filter((i) => i !== item);
    for (const fn of this.listeners) fn();
  },
};

function notify(item) {
  if (!document.hidden || !kept(NOTIFY).length || !('Notification' in window) || Notification.permission !== 'granted') return;
  const title = item.title.map((t) => (t instanceof Node ? t.textContent : t)).join('');
  const n = new Notification(title, { body: item.text, tag: item.id });
  n.onclick = () => { window.focus(); location.hash = '#/' + item.to; n.close(); };
}

/* ---- the page ---- */

export function needsPage(root) {
  const list = h('ul', { class: 'needs', 'aria-label': 'What waits for you' }), head = h('div', {}), side = h('section', { class: 'wide-list' }, head, list), main = h('section', { class: 'main', 'aria-label': 'Review' });
  put(root, h('div', { class: 'split needs-split' }, side, main));
  let review = null;

  function draw() {
    const items = inbox.items;
    const canNotify = 'Notification' in window, on = kept(NOTIFY).length && canNotify && Notification.permission === 'granted';
    redraw(head, JSON.stringify([items?.length, inbox.problem, on]), () => [h('div', { class: 'page-head' }, h('h1', {}, 'Needs you'), h('span', { class: 'quiet', role: 'status' }, items ? plural(items.length, 'thing') : ''), h('span', { class: 'grow' }),
      canNotify ? button(on ? 'Notifications are on' : 'Notify me', async () => {
        if (on) keep(NOTIFY, []);
        else if (await Notification.requestPermission() === 'granted') keep(NOTIFY, [1]);
        else toast('The browser does not allow notifications for this page', 'error');
        draw();
      }, { class: 'small', 'aria-pressed': on ? 'true' : 'false' }) : null), inbox.problem ? h('p', { class: 'banner bad' }, inbox.problem) : null]);
    redraw(list, JSON.stringify(items && items.map((i) => [i.id, i.text, i.at, i.state])), () => (!items ? h('li', { class: 'quiet' }, 'Looking…') : items.length ? items.map(row) : h('li', {}, empty('Nothing needs you.', h('p', { class: 'quiet' }, 'Reviews, escalations, dead letters, expired leases, alerts, silent agents and rooms that wait for a person appear here by themselves.')))));
  }
  function row(i) {
    const go = () => { location.hash = '#/' + i.to; };
    return h('li', { class: 'need' }, h('div', { class: 'row-mark' }, mark(i.state, 18)),
      h('div', { class: 'row-main' }, h('div', { class: 'row-top' }, link(i.to, { dir: 'auto' }, i.title)), i.text ? h('p', { class: 'quiet', dir: 'auto' }, i.text) : null, h('div', { class: 'row-sub' }, h('span', { class: 'word' }, i.kind), time(i.at))),
      h('div', { class: 'buttons' }, i.buttons.filter(Boolean).map(([label, fn, kind]) => button(label, (b, e) => fn(b, e, go), { class: kind || '' })),
        i.dismiss ? button('×', () => inbox.dismiss(i), { class: 'plain', 'aria-label': 'Dismiss', title: 'Dismiss: hide it in this browser' }) : null));
  }
  inbox.listeners.add(draw);
  draw();
  return {
    route([what, id]) {
      root.firstChild.classList.toggle('has-detail', what === 'review');
      if (review && review.id !== id) {
        review.stop();
        review = null;
        put(main);
      }
      if (what === 'review' && id) review ??= reviewPanel(main, id);
      return what === 'review' ? 'Review' : 'Needs you';
    },
    stop() {
      inbox.listeners.delete(draw);
      review?.stop();
    },
  };
}
