/*
 * signal - one signal: what it says, what became of it, its thread as a conversation, and what to do.
 */
import { at, can, get, mayRead, me, post } from './api.js';
import { act, button, chip, dialog, empty, field, h, input, kindOf, link, mark, put, redraw, select, state } from './dom.js';
import { addressOf, compose, stateOf } from './signals.js';
import { signals, watch } from './store.js';
import { clean, clock, full, json, markdown, oneLine, plain, time, when } from './text.js';

export function signalPanel(root, id, { back }) {
  let it = signals.byId.get(id) || null, thread = [], history = [], problem = '';
  const box = h('div', { class: 'doc' });
  put(root, box);

  const send = (path, more, said) => (b) => act(b, () => post(path, { signal_id: id, ...more }), said).then(look.now);
  function actions() {
    const s = it, list = [], mine = s.claimed_by === me.identity && s.delivery_state === 'leased';
    if (s.task_status && can('claim')) {
      if (s.delivery_state === 'pending' && s.task_status === 'open') list.push(['Claim', send('/claim', {}, 'It is yours for five minutes'), 'primary']);
      if (mine) {
        if (s.task_status === 'claimed' || s.task_status === 'blocked') list.push(['Start', send('/status', { task_status: 'in_progress' }), 'primary']);
        if (s.task_status === 'in_progress') list.push(['Done', send('/status', { task_status: 'done' }, 'Done'), 'primary'], ['Blocked', send('/status', { task_status: 'blocked' })]);
        list.push(['Extend', send('/extend', {}, 'Yours for five more minutes')], ['Give back', send('/release', {}, 'Given back')], ['Failed…', () => dialog('The work failed', [field('What went wrong', h('textarea', { name: 'error', rows: 3 })), field('Try again in', h('div', { class: 'pair' }, input('n', { type: 'number', min: 0, value: '', placeholder: 'automatic', 'aria-label': 'Seconds' }), 'seconds'))], { label: 'Fail', kind: 'danger', submit: (v) => post('/fail', { signal_id: id, ...(v.error ? { error: v.error } : {}), ...(v.n !== '' ? { retry_in: Number(v.n) } : {}) }) }).then(look.now), 'danger']);
      }
      if (s.delivery_state === 'dead_letter') list.push(['Requeue', send('/requeue', {}, 'It can be claimed again'), 'primary']);
    }
    if (can('ack') && (mine || (s.delivery_state === 'pending' && s.to_identity === me.identity))) list.push(['Ack', send('/ack', {}, 'Acknowledged')]);
    if (can('inbox')) {
      list.push(['Seen', send('/inbox/acknowledge', {}, 'Marked as seen')], ['Resolve', send('/inbox/resolve', {}, 'Resolved')], ['Snooze…', () => dialog('Snooze', field('Hide it for', select('until', [['+15m', '15 minutes'], ['+1h', 'an hour'], ['+4h', 'four hours'], ['+24h', 'a day'], ['+168h', 'a week']], '+1h')), { label: 'Snooze', submit: (v) => post('/inbox/snooze', { signal_id: id, until: v.until }) }).then(look.now)], ['Unsnooze', send('/inbox/unsnooze', {}, 'Shown again')]);
    }
    if (can('emit')) list.push(['Answer…', () => compose(it).then(look.now)]);
    return list;
  }

  function draw() {
    if (!it) {
      put(box, link(back, { class: 'back-link' }, '‹ Signals'), empty(problem || 'Loading…'));
      return;
    }
    const s = it;
    redraw(box, JSON.stringify([s, thread.map((t) => [t.id, stateOf(t)]), history]), () => [link(back, { class: 'back-link' }, '‹ Signals'),
      h('header', { class: 'run-top' }, h('div', { class: 'run-head' }, h('h1', { class: 'type', dir: 'auto' }, oneLine(s.signal_type, 200)), state(stateOf(s)), s.delivery_count ? chip('delivered in vain ' + s.delivery_count + '×') : null, h('span', { class: 'grow' }), h('a', { class: 'close', href: '#/' + back, 'aria-label': 'Close signal' }, '×')),
        h('p', { class: 'facts' }, h('span', { dir: 'auto' }, clean(s.from_role ? `${s.from_role} (${s.from_identity})` : s.from_identity || 'system'), ' → ', clean(addressOf(s))), time(s.created_at), h('span', {}, 'urgency ' + s.urgency),
          s.claimed_by ? h('span', {}, 'claimed by ' + clean(s.claimed_by)) : null, s.claim_expires_at ? h('span', {}, 'lease ends ', time(s.claim_expires_at)) : null, s.expires_at ? h('span', {}, 'expires ', time(s.expires_at)) : null, s.tags.map((t) => chip(oneLine(t, 60))), h('code', { class: 'id' }, s.id))),
      h('div', { class: 'buttons left' }, actions().map(([label, fn, kind]) => button(label, fn, { class: kind || '' }))),
      history.length ? h('section', {}, h('h2', {}, 'History'), line(history)) : null,
      s.content ? h('section', {}, markdown(s.content)) : null,
      s.payload !== null && s.payload !== undefined && !(s.content && JSON.stringify(s.payload) === '{}') ? h('section', {}, h('h2', {}, 'Data'), plain(json(s.payload), { class: 'text code' })) : null,
      Object.keys(s.metadata || {}).length ? h('section', {}, h('h2', {}, 'Metadata'), plain(json(s.metadata), { class: 'text code' })) : null,
      s.resources?.length ? h('section', {}, h('h2', {}, 'References'), h('ul', { class: 'plain-list' }, s.resources.map((r) => h('li', { dir: 'auto' }, chip(clean(r.kind)), ' ', h('code', {}, oneLine(r.ref, 300)))))) : null,
      thread.length > 1 ? h('section', {}, h('h2', {}, 'Conversation'), h('ol', { class: 'talk' }, thread.map((t) => h('li', { class: t.from_identity === me.identity ? 'mine' : '', 'aria-current': t.id === id ? 'true' : null },
        h('div', { class: 'talk-head' }, h('b', { dir: 'auto' }, clean(t.from_role || t.from_identity || 'system')), h('span', { class: 'type' }, oneLine(t.signal_type, 50)), mark(stateOf(t)), h('span', { class: 'grow' }), t.id === id ? time(t.created_at) : link('signals/s/' + encodeURIComponent(t.id), {}, time(t.created_at))), t.content ? markdown(t.content) : t.payload !== null && t.payload !== undefined ? plain(json(t.payload)) : null)))) : null]);
  }

  const look = watch(async () => {
    try {
      it = await signals.fresh(id);
      if (mayRead()) [thread, history] = await Promise.all([get(at('thread', id)), get(at('signals', id, 'history'))]);
    } catch (e) {
      problem = e.message;
    }
    draw();
  }, 500);
  draw();
  look.now();
  return { id, stop: look.stop };
}

const WORDS = { emit: 'sent', claim: 'claimed', extend: 'extended', ack: 'acked', release: 'given back', fail: 'failed', expire: 'lease expired', retry: 'tried again', requeue: 'requeued', lapse: 'expired' };
const LOOKS = { emit: 'waiting', claim: 'claimed', extend: 'claimed', ack: 'acked', release: 'waiting', fail: 'failed', expire: 'expired', retry: 'waiting', requeue: 'waiting', lapse: 'expired' };

/* The history as a line of states. */
function line(list) {
  return h('ol', { class: 'states' }, list.map((t) => {
    const word = t.op === 'status' ? t.task_status : WORDS[t.op] || t.op, look = t.op === 'status' ? t.task_status : LOOKS[t.op] || t.op;
    return h('li', { class: kindOf(look), title: full(t.at) }, mark(look), h('b', {}, clean(String(word).replace('_', ' '))), h('span', { class: 'quiet' }, [t.by ? clean(t.by) : '', clock(t.at)].filter(Boolean).join(' · ')),
      t.error !== undefined && t.error !== null ? h('span', { class: 'why', dir: 'auto' }, oneLine(typeof t.error === 'string' ? t.error : JSON.stringify(t.error), 160)) : null,
      t.retry_at ? h('span', { class: 'quiet' }, 'again ' + when(t.retry_at)) : null);
  }));
}
