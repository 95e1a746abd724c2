/*
 * signals - the page Signals: the live stream, inboxes, what waits for its time, subscriptions.
 *
 *     #/signals                 the stream        #/signals/inbox[/TARGET]   an inbox
 *     #/signals/delayed                           #/signals/subscriptions
 *     #/signals/s/ID            one signal, beside the stream
 */
import { can, mayRead, me, page, post, remove } from './api.js';
import { act, button, dialog, empty, field, h, input, mark, put, redraw, select, table, tabs, toast } from './dom.js';
import { List } from './list.js';
import { signalPanel } from './signal.js';
import { loadNames, names, signals, throttle, watch } from './store.js';
import { clean, clock, number, oneLine, plural, time } from './text.js';

const TYPES = ['task', 'query', 'alert', 'sense', 'pulse', 'artifact', 'proposal', 'shift'];
/* The task's state; that of its delivery, when that is over while the task is not. */
export const stateOf = (s) => (!s.task_status || ['failed', 'dead_letter', 'expired'].includes(s.delivery_state) || (s.delivery_state === 'acked' && s.task_status === 'open') ? s.delivery_state : s.task_status);
export const addressOf = (s) => (s.to_identity ? '@' + s.to_identity : s.to_role ? s.to_role : s.to_ring ? '+' + s.to_ring : 'everyone');
const bodyOf = (s) => s.content ?? (s.payload === null || s.payload === undefined ? '' : typeof s.payload === 'string' ? s.payload : JSON.stringify(s.payload));

/* What cliq itself says of runs, agents and rooms, in words; null: anything else. */
function told(s) {
  const d = s.payload;
  if (s.from_identity || !d || typeof d !== 'object') return null;
  const [kind] = s.signal_type.split(':'), end = s.signal_type.split(':').pop();
  if (kind === 'pipeline') return { state: end === 'started' ? 'running' : end, text: [`run ${end}`, d.reason].filter(Boolean).join(': ') };
  if (kind === 'phase') return { state: { started: 'running', progress: 'running', routed: 'route' }[end] || end, text: [`${d.phase} ${end}` + (d.target ? ` to ${d.target}` : '') + (d.attempt > 1 ? `, attempt ${d.attempt}` : ''), d.message || d.reason].filter(Boolean).join(': ') };
  if (kind === 'room' && d.from) return { state: { pass: 'done', done: 'done', signoff: 'done', fail: 'failed', error: 'failed', escalate: 'escalated' }[end] || 'note', text: `${d.from} → ${d.to || 'all'}: ${d.body || ''}` };
  if (kind === 'agent') return { state: end === 'wake' ? 'running' : 'asleep', text: `${d.agentId}: ${end === 'wake' ? 'begins' : end === 'sleep' ? 'ends' : end}` };
  return null;
}

/* Pure: does a pattern fit a type? '*' is one segment. */
export function fits(pattern, type) {
  const p = pattern.trim().split(':'), t = type.split(':');
  return p.length === t.length && p.every((x, i) => x === '*' || x === t[i]);
}

function signalRow(s, el) {
  const hot = s.urgency >= 0.8, own = told(s);
  el.append(h('div', { class: 'row-mark' }, mark(own ? own.state : s.task_status || s.delivery_state !== 'pending' ? stateOf(s) : 'note')),
    h('div', { class: 'row-main' },
      h('div', { class: 'row-top' }, h('span', { class: 'type', dir: 'auto' }, oneLine(s.signal_type, 60)), hot ? h('span', { class: 'hot', title: 'urgency ' + s.urgency }, '▲', h('span', { class: 'heard' }, 'urgent')) : null,
        h('span', { class: 'quiet route', dir: 'auto' }, clean(s.from_role || s.from_identity || 'system') + ' → ' + clean(addressOf(s)))),
      h('div', { class: 'row-sub one', dir: 'auto' }, oneLine(own ? own.text : bodyOf(s)) || '—')),
    h('div', { class: 'row-end' }, h('time', { datetime: s.created_at }, clock(s.created_at)), s.task_status || s.delivery_state !== 'pending' ? h('span', { class: 'word' }, stateOf(s).replace('_', ' ')) : null));
}

export function signalsPage(root) {
  const nav = h('div', {}), side = h('section', { class: 'side wide', 'aria-label': 'Signals' }), main = h('section', { class: 'main', 'aria-label': 'Signal' });
  const body = h('div', { class: 'fill' });
  put(root, h('div', { class: 'split' }, side, main));
  put(side, nav, body);
  let view = null, panel = null, tab = '';

  const open = (s) => { location.hash = '#/signals/s/' + encodeURIComponent(s.id); };
  const views = { '': streamView, inbox: inboxView, delayed: delayedView, subscriptions: subscriptionsView };
  return {
    route([what, id]) {
      const one = what === 's' && id, to = one ? tab : what && views[what] ? what : '';
      if (!view || (!one && (to !== tab || (to === 'inbox' && view.target !== (id || '@'))))) {
        view?.stop();
        tab = to;
        put(body);
        view = views[to](body, { open, target: id || '@' });
      }
      redraw(nav, tab, () => h('div', { class: 'bar-top' }, tabs('Signals', [['signals', 'Stream'], can('inbox') ? ['signals/inbox', 'Inbox'] : null, mayRead() ? ['signals/delayed', 'Delayed'] : null, mayRead() ? ['signals/subscriptions', 'Subscriptions'] : null], tab ? 'signals/' + tab : 'signals'),
        h('span', { class: 'grow' }), can('emit') ? button('Write', () => compose(), { class: 'primary', title: 'Write a signal (c)' }) : null));
      root.firstChild.classList.toggle('has-detail', !!one);
      if (panel && panel.id !== id) {
        panel.stop();
        panel = null;
        put(main);
      }
      if (one) panel ??= signalPanel(main, id, { back: tab ? 'signals/' + tab : 'signals' });
      else if (!panel) put(main, empty('Choose a signal.', h('p', { class: 'quiet' }, 'Its thread and its history stand here.')));
      view.choose?.(one ? id : undefined);
      return 'Signals';
    },
    stop() {
      view?.stop();
      panel?.stop();
    },
    compose: () => can('emit') && compose(),
    focus: () => view?.focus?.(),
  };
}

/* ---- the stream ---- */

const filter = { text: '', type: '', pattern: '', urgency: 0, ring: '', role: '' };

function streamView(root, { open }) {
  let shown = [];
  const list = new List({ label: 'Signals, newest first', height: 54, key: (s) => s.id, row: signalRow, open, near: () => older() });
  const about = h('p', { class: 'quiet count-line', role: 'status', 'aria-live': 'off' });
  const set = (key, el) => { filter[key] = el.value.trim(); sift(); };
  const text = h('input', { type: 'search', placeholder: 'Text', 'aria-label': 'Text in the signal', value: filter.text, oninput: () => set('text', text) });
  const type = h('input', { type: 'search', placeholder: 'Type', 'aria-label': 'Type', list: 'types', value: filter.type, oninput: () => set('type', type) });
  const pattern = h('input', { type: 'search', placeholder: 'Pattern a:*:c', 'aria-label': 'Pattern of the type', value: filter.pattern, oninput: () => set('pattern', pattern) });
  const urgency = select('urgency', [['0', 'Any urgency'], ['0.5', '≥ 0.5'], ['0.8', '≥ 0.8'], ['0.95', '≥ 0.95']], String(filter.urgency || 0), { 'aria-label': 'Urgency', onchange: () => { filter.urgency = Number(urgency.value); sift(); } });
  const who = (key, label) => {
    const el = h('select', { 'aria-label': label, onchange: () => set(key, el) }, h('option', { value: '' }, label));
    return el;
  };
  const role = who('role', 'Any role'), ring = who('ring', 'Any ring');
  const more = h('details', { class: 'filters' }, h('summary', {}, 'Filters'), h('div', {}, type, pattern, urgency, role, ring));
  if (matchMedia('(min-width: 700px)').matches) more.open = true;
  put(root, h('datalist', { id: 'types' }, TYPES.map((t) => h('option', { value: t }))), h('div', { class: 'bar-top' }, text), more, about, list.el);

  const wants = (s) => (!filter.type || s.signal_type === filter.type || s.signal_type.startsWith(filter.type)) && (!filter.pattern || fits(filter.pattern, s.signal_type)) &&
    (!filter.urgency || s.urgency >= filter.urgency) && (!filter.role || s.to_role === filter.role || s.from_role === filter.role) && (!filter.ring || s.to_ring === filter.ring) &&
    (!filter.text || (s.signal_type + ' ' + bodyOf(s) + ' ' + s.from_identity + ' ' + s.tags.join(' ')).toLowerCase().includes(filter.text.toLowerCase()));
  const isOn = () => filter.type || filter.pattern || filter.urgency || filter.role || filter.ring || filter.text;
  const item = (i) => shown[shown.length - 1 - i];
  function tell() {
    const all = signals.all.length;
    about.textContent = !mayRead() && !all ? 'Signals appear here as they come.' : (isOn() ? `${number(shown.length)} of ${number(all)} signals` : plural(all, 'signal')) + (signals.cursor === null ? '' : ', older ones below');
  }
  function sift() {
    shown = isOn() ? signals.all.filter(wants) : signals.all;
    list.show(shown.length, item);
    tell();
    if (shown.length < 30) older();
  }
  /* A filter that few fit reads on, but not the whole log in one go. */
  let tries = 0;
  async function older() {
    if (!mayRead() || signals.cursor === null || signals.loading) return;
    if (isOn() && ++tries > 50) return;
    try { await signals.older(); } catch { /* told by the banner of the connection */ }
  }
  const draw = throttle(() => { tell(); }, 250);
  const onSignals = (kind, some) => {
    if (kind === 'new') {
      const fresh = isOn() ? some.filter(wants) : some;
      if (isOn()) shown.push(...fresh);
      else shown = signals.all;
      list.show(shown.length, item, fresh.length);
      draw();
    } else if (kind === 'same') {
      list.refresh();
    } else {
      sift();
    }
  };
  signals.listeners.add(onSignals);
  text.addEventListener('input', () => { tries = 0; });
  sift();
  loadNames().then(() => {
    for (const [el, all, key] of [[role, names.roles, 'role'], [ring, names.rings, 'ring']])
      for (const g of all) el.append(h('option', { value: g.id, selected: filter[key] === g.id }, clean(g.id)));
  }).catch(() => {});
  return { stop: () => signals.listeners.delete(onSignals), choose: (id) => list.choose(id), focus: () => list.el.focus() };
}

/* ---- an inbox ---- */

function inboxView(root, { open, target }) {
  let items = [], cursor = null, view = 'now', busy = false, marked = '';
  const list = new List({ label: 'Inbox', height: 54, key: (s) => s.id, row: signalRow, open, near: () => more() });
  const about = h('p', { class: 'quiet count-line', role: 'status' });
  const whose = h('select', { 'aria-label': 'Whose inbox', onchange: () => { location.hash = '#/signals/inbox' + (whose.value === '@' ? '' : '/' + encodeURIComponent(whose.value)); } }, h('option', { value: '@' }, 'Mine: @' + clean(me.identity)));
  loadNames().then(() => {
    for (const r of names.roles) whose.append(h('option', { value: r.id, selected: r.id === target }, 'Role: ' + clean(r.id)));
    if (can('admin') || can('audit')) for (const i of names.identities) if (i.id !== me.identity) whose.append(h('option', { value: '@' + i.id, selected: '@' + i.id === target }, '@' + clean(i.id)));
  }).catch(() => {});
  const how = select('view', [['now', 'Now'], ['recent', 'Last 24 h'], ['history', 'All'], ['stale', 'Older than 3 days']], view, { 'aria-label': 'View', onchange: () => { view = how.value; look.now(); } });
  const receipt = select('mark', [['', 'Any mark'], 'unread', 'acknowledged', 'resolved', 'snoozed'], '', { 'aria-label': 'Your own mark', onchange: () => { marked = receipt.value; look.now(); } });
  put(root, h('div', { class: 'bar-top' }, whose, how, receipt), about, list.el);
  const args = (after) => ({ view, receipt_state: marked, limit: 100, after, include_snoozed: marked === 'snoozed' || null, include_resolved: marked === 'resolved' || null });
  const path = '/inbox/' + encodeURIComponent(target);
  async function more() {
    if (!cursor || busy) return;
    busy = true;
    try {
      const answer = await page(path, args(cursor));
      cursor = answer.meta.cursor;
      items = items.concat(answer.data);
      list.show(items.length, (i) => items[i]);
    } finally { busy = false; }
  }
  const look = watch(async () => {
    try {
      const answer = await page(path, args());
      items = answer.data;
      cursor = answer.meta.cursor;
      about.textContent = items.length ? plural(items.length, 'signal') + (cursor ? ', more below' : '') : 'This inbox is empty.';
    } catch (e) {
      about.textContent = e.message;
    }
    list.show(items.length, (i) => items[i]);
  }, 700);
  look.now();
  return { target, stop: look.stop, choose: (id) => list.choose(id), focus: () => list.el.focus() };
}

/* ---- later ---- */

function delayedView(root) {
  const place = h('div', { class: 'scroll-y' });
  put(root, place);
  const look = watch(async () => {
    const { events } = await page('/v1/engine/signals/delayed');
    redraw(place, JSON.stringify(events), () => [h('div', { class: 'page-head' }, h('h2', {}, 'Delayed signals'), h('span', { class: 'grow' }), can('emit') ? button('Schedule', () => schedule().then(look.now)) : null),
      events.length ? h('ul', { class: 'needs' }, events.map((e) => h('li', { class: 'need' }, h('div', { class: 'row-mark' }, mark('waiting', 18)),
        h('div', { class: 'row-main' }, h('div', { class: 'row-top' }, h('b', { dir: 'auto' }, oneLine(e.type, 80))), e.data !== undefined ? h('p', { class: 'quiet', dir: 'auto' }, oneLine(JSON.stringify(e.data))) : null, h('div', { class: 'row-sub' }, time(e.deliverAt), e.repeatKey ? h('span', { class: 'word' }, clean(e.repeatKey)) : null, h('span', {}, clean(e.source?.id || e.source?.type || '')))),
        h('div', { class: 'buttons' }, can('emit') ? button('Cancel', (b) => act(b, () => remove('/v1/engine/signals/delayed', { id: e.id }), 'Cancelled').then(look.now), { class: 'danger' }) : null)))) : empty('Nothing waits for its time.')]);
  }, 700);
  look.now();
  return { stop: look.stop };
}

function subscriptionsView(root) {
  const place = h('div', { class: 'scroll-y' });
  put(root, place);
  const look = watch(async () => {
    const { subscriptions } = await page('/v1/engine/signals/subscriptions');
    redraw(place, JSON.stringify(subscriptions), () => [h('div', { class: 'page-head' }, h('h2', {}, 'Subscriptions'), h('span', { class: 'grow' }), can('inbox') ? button('Subscribe', () => subscribe().then(look.now)) : null),
      subscriptions.length ? table(['Pattern', 'Who', 'Wakes', 'Since', ''], subscriptions.map((x) => h('tr', {}, h('td', {}, h('code', { dir: 'auto' }, oneLine(x.pattern, 120))), h('td', {}, clean(x.agentId)), h('td', {}, x.silent ? 'no, inbox only' : 'yes'), h('td', {}, time(x.createdAt)),
          h('td', {}, can('admin') || x.agentId === me.identity ? button('End', (b) => act(b, () => post('/v1/engine/signals/unsubscribe', { pattern: x.pattern, ...(x.agentId === me.identity ? {} : { agentId: x.agentId }) }), 'Ended').then(look.now), { class: 'small', 'aria-label': 'End ' + x.pattern }) : null)))) : empty('No subscription.')]);
  }, 700);
  look.now();
  return { stop: look.stop };
}

const subscribe = () => dialog('Subscribe', [field('Pattern', input('pattern', { required: true, placeholder: 'build:*:done' }), '* alone is one segment'), h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'wakes' }), ' also wake the agent')], {
  label: 'Subscribe', submit: (v) => post('/v1/engine/signals/subscribe', { pattern: v.pattern, silent: !v.wakes }),
});

const data = (text) => {
  if (!text.trim()) return undefined;
  try { return JSON.parse(text); } catch (e) { throw new Error('The data is not JSON: ' + e.message); }
};

function schedule() {
  return dialog('Schedule a signal', [field('Type', input('type', { required: true, placeholder: 'report:daily' })), field('In', h('div', { class: 'pair' }, input('n', { type: 'number', min: 1, value: 10, 'aria-label': 'How many' }), select('unit', [['60', 'minutes'], ['3600', 'hours'], ['86400', 'days'], ['1', 'seconds']], '60', { 'aria-label': 'Unit' }))), field('Data', h('textarea', { name: 'data', rows: 3, class: 'code' }), 'JSON; may be empty'), field('Repeat key', input('key'), 'replaces what waits under the same type and key')], {
    label: 'Schedule',
    submit: async (v) => {
      await ask1({ type: v.type, deliverAt: `+${Number(v.n) * Number(v.unit)}s`, ...(data(v.data) === undefined ? {} : { data: data(v.data) }), ...(v.key ? { repeatKey: v.key } : {}) });
    },
  });
}
const ask1 = (body) => post('/v1/engine/signals/delayed', body);

/* ---- writing ---- */

export async function compose(parent) {
  await loadNames().catch(() => {});
  const to = h('select', { name: 'to' }, h('option', { value: '' }, 'Everyone'), names.roles.map((r) => h('option', { value: 'to_role ' + r.id }, 'Role ' + clean(r.id))), names.rings.map((r) => h('option', { value: 'to_ring ' + r.id }, 'Ring ' + clean(r.id))), names.identities.map((r) => h('option', { value: 'to_identity ' + r.id }, '@' + clean(r.id))));
  if (parent?.from_identity) to.value = 'to_identity ' + parent.from_identity;
  const urgency = input('urgency', { type: 'range', min: 0, max: 1, step: 0.05, value: 0.5, oninput: () => { shown.textContent = urgency.value; } }), shown = h('output', {}, '0.5');
  const done = await dialog(parent ? 'Answer' : 'Write a signal', [
    field('Type', h('input', { name: 'signal_type', required: true, list: 'compose-types', value: parent ? 'sense' : 'task', autocomplete: 'off' })), h('datalist', { id: 'compose-types' }, TYPES.map((t) => h('option', { value: t }))),
    field('To', to),
    names.mine.roles.length ? field('As', select('from_role', [['', '@' + me.identity], ...names.mine.roles.map((r) => [r, 'role ' + r])], '')) : null,
    field('Text', h('textarea', { name: 'content', rows: 6, dir: 'auto' }), 'Markdown is shown to people'),
    field('Urgency', h('div', { class: 'pair' }, urgency, shown)),
    field('Tags', input('tags', { placeholder: 'separated by commas' })),
  ], {
    label: 'Send',
    submit: (v) => {
      const [key, id] = v.to.split(' '), tags = (v.tags || '').split(',').map((t) => t.trim()).filter(Boolean);
      return post('/emit', { signal_type: v.signal_type, content: v.content, urgency: Number(v.urgency), ...(key ? { [key]: id } : {}), ...(v.from_role ? { from_role: v.from_role } : {}), ...(tags.length ? { tags } : {}), ...(parent ? { parent_id: parent.id } : {}) });
    },
  });
  if (done) toast('Sent');
  return done;
}

