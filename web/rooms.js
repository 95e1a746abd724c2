/*
 * rooms - the page Rooms: conversations of roles, with their state, and a line to post as a role.
 *
 *     #/rooms    #/rooms/PROJECT/ROOM
 */
import { at, can, get, post } from './api.js';
import { button, chip, dialog, empty, field, h, input, link, mark, put, redraw, select, state, toast } from './dom.js';
import { List } from './list.js';
import { nameOf } from './runs.js';
import { watch } from './store.js';
import { clean, markdown, oneLine, plural, time } from './text.js';

const TYPES = ['task', 'done', 'review', 'pass', 'fail', 'fix', 'error', 'progress', 'escalate', 'plan-review', 'plan-approve', 'plan-reject'];
const LOOK = { passed: 'passed', 'failed-final': 'failed', failed: 'failed', pending: 'waiting', blocked: 'blocked', triage: 'escalated' };
const SAID = { done: 'done', pass: 'passed', fail: 'failed', error: 'failed', escalate: 'escalated', signoff: 'done', review: 'waiting', fix: 'running', task: 'open', progress: 'running' };
/* A person plays the role that is awaited. */
const asksPerson = (r) => r.role && r.player === 'person' && r.state !== 'pending';
const lookOf = (r) => (asksPerson(r) ? 'escalated' : LOOK[r.state] || 'running');
const isRoom = (s) => s && s.signal_type.startsWith('room:');
const hue = (role) => [...String(role)].reduce((n, c) => (n * 31 + c.codePointAt(0)) % 6, 0);

export function roomsPage(root) {
  let rooms = null, talk = null, problem = '';
  const idOf = (r) => (r.project || '-') + '/' + r.room;
  const list = new List({
    label: 'Rooms', height: 66, key: idOf,
    open: (r) => { location.hash = '#/rooms/' + encodeURIComponent(r.project || '-') + '/' + encodeURIComponent(r.room); },
    row: (r, el) => el.append(h('div', { class: 'row-mark' }, mark(lookOf(r), 16)),
      h('div', { class: 'row-main' }, h('div', { class: 'row-top' }, h('strong', { dir: 'auto' }, oneLine(r.title || r.room, 80))),
        h('div', { class: 'row-sub' }, h('span', { class: 'word' }, clean(r.state)), h('span', {}, clean(r.room)), r.retries ? h('span', {}, `try ${r.retries + 1} of ${r.max_retries + 1}`) : null, r.path ? h('span', {}, nameOf(r.path)) : null)),
      h('div', { class: 'row-end' }, time(r.last?.ts || r.since), h('span', {}, plural(r.messages, 'message')))),
  });
  const about = h('p', { class: 'quiet count-line', role: 'status' });
  const side = h('section', { class: 'side', 'aria-label': 'All rooms' }, h('div', { class: 'bar-top' }, h('h1', {}, 'Rooms'), h('span', { class: 'grow' }), can('emit') ? button('New room', () => create()) : null), about, list.el);
  const main = h('section', { class: 'main', 'aria-label': 'Room' });
  put(root, h('div', { class: 'split' }, side, main));

  const looking = watch(async () => {
    try {
      rooms = await get('/rooms');
      rooms.sort((a, b) => Date.parse(b.last?.ts || b.since || 0) - Date.parse(a.last?.ts || a.since || 0));
      problem = '';
    } catch (e) { problem = e.message; }
    about.textContent = problem || plural(rooms.length, 'room');
    list.show(rooms?.length || 0, (i) => rooms[i]);
    if (!talk) nothing();
  }, 700, (s) => !s || isRoom(s));
  looking.now();
  const nothing = () => put(main, rooms && !rooms.length ? empty('There is no room yet.', h('p', { class: 'quiet' }, h('code', {}, 'cliq room create'), ' makes one: roles work, review and sign off in it.')) : empty('Choose a room.'));

  function create() {
    const projects = [...new Map((rooms || []).filter((r) => r.project).map((r) => [r.project, r.path]))];
    return dialog('New room', [field('Name', input('room', { required: true, placeholder: 'room-001', pattern: '[A-Za-z0-9._\\-]{1,64}' })), field('Task', h('textarea', { name: 'task', rows: 6, required: true }), 'Markdown; the first line is the title'),
      field('Roles', input('roles', { placeholder: 'engineer, qa' }), 'the first works, the others review'), projects.length ? field('Project', select('project', projects.map(([id, path]) => [id, nameOf(path) + ' (' + id + ')']), projects[0][0])) : null], {
      label: 'Make',
      submit: async (v) => {
        const roles = v.roles.split(',').map((x) => x.trim()).filter(Boolean);
        const made = await post('/rooms', { room: v.room, task: v.task, ...(roles.length ? { roles } : {}), ...(v.project ? { project: v.project } : {}) });
        location.hash = '#/rooms/' + encodeURIComponent(made.project || '-') + '/' + encodeURIComponent(made.room);
      },
    }).then(looking.now);
  }

  return {
    route([project, room]) {
      const id = room ? project + '/' + room : null;
      root.firstChild.classList.toggle('has-detail', !!id);
      list.choose(id);
      if (talk && talk.id !== id) {
        talk.stop();
        talk = null;
        put(main);
      }
      if (id) talk ??= conversation(main, id, project === '-' ? undefined : project, room);
      else nothing();
      return room ? clean(room) : 'Rooms';
    },
    stop() {
      looking.stop();
      talk?.stop();
    },
    focus: () => list.el.focus(),
  };
}

function conversation(root, id, project, room) {
  const top = h('header', { class: 'run-top' }), life = h('div', {}), asks = h('div', {}), said = h('ol', { class: 'talk', 'aria-label': 'Messages' }), foot = h('div', { class: 'talk-foot' });
  const scroll = h('div', { class: 'talk-scroll', tabindex: '0' }, h('div', { class: 'doc' }, link('rooms', { class: 'back-link' }, '‹ All rooms'), top, life, asks, h('div', { role: 'log', 'aria-label': 'Conversation' }, said)));
  put(root, h('div', { class: 'talk-page' }, scroll, foot));
  let it = null, last = null, sent = false, fill = null;
  const body = (more) => ({ ...more, ...(project ? { project } : {}) });

  function message(m) {
    const r = m.from || '?';
    return h('li', { class: 'role-' + hue(r) }, h('span', { class: 'face', 'aria-hidden': 'true' }, clean(r).slice(0, 1).toUpperCase()),
      h('div', { class: 'said' }, h('div', { class: 'talk-head' }, h('b', { dir: 'auto' }, clean(r)), m.to ? h('span', { dir: 'auto' }, '→ ' + clean(m.to)) : null, m.type ? state2(m.type) : null, h('span', { class: 'grow' }), time(m.ts)), m.body ? markdown(m.body) : h('p', { class: 'quiet' }, '(nothing)')));
  }
  /* What the role may answer in this state, by the life cycle. */
  const answers = (r) => Object.keys(r.lifecycle?.states?.[r.state]?.signals || {});
  const state2 = (type) => h('span', { class: 'state ' }, mark(SAID[type] || 'waiting'), ' ', oneLine(type, 40));

  function draw() {
    const r = it, steps = Object.entries(r.lifecycle?.states || {});
    redraw(top, JSON.stringify([r.title, r.state, r.player, r.retries, r.waits_for, r.unsigned, r.signed, r.running]), () => [h('div', { class: 'run-head' }, h('h1', { dir: 'auto' }, oneLine(r.title || r.room, 160)), h('span', { class: 'state ' }, mark(lookOf(r)), ' ', clean(r.state)), r.running ? chip('at work') : null, h('span', { class: 'grow' }),
      can('emit') && r.unsigned?.length ? button('Sign off', () => signOff(), { class: 'primary' }) : null),
    h('p', { class: 'facts' }, h('span', {}, clean(r.room)), r.ref && r.ref !== r.room ? h('span', { dir: 'auto' }, clean(r.ref)) : null, r.path ? h('span', { class: 'path', dir: 'auto' }, clean(r.path)) : null, h('span', {}, `${r.retries} of ${r.max_retries} retries used`), r.since ? h('span', {}, 'since ', time(r.since)) : null,
      r.waits_for?.length ? h('span', {}, 'waits for ' + r.waits_for.map(clean).join(', ')) : null, r.signed?.length ? h('span', {}, 'signed by ' + r.signed.map(clean).join(', ')) : null, r.unsigned?.length ? h('span', {}, 'not yet by ' + r.unsigned.map(clean).join(', ')) : null)]);
    redraw(life, JSON.stringify([steps.map(([n]) => n), r.state]), () => (steps.length ? h('ol', { class: 'life', 'aria-label': 'States' }, steps.map(([name, s]) => h('li', { class: s.type || '', 'aria-current': name === r.state ? 'step' : null }, name === r.state ? mark(lookOf(r), 12) : null, clean(name), s.role ? h('small', {}, clean(s.role)) : null))) : null));
    const asked = asksPerson(r) && can('emit');
    redraw(asks, JSON.stringify(asked && [r.role, r.state]), () => (asked ? h('div', { class: 'banner' }, h('p', {}, mark('escalated'), ' Waits for a person as ', h('b', { dir: 'auto' }, clean(r.role)), '.'),
      h('div', { class: 'buttons left' }, answers(r).map((type) => button(clean(type), () => fill?.(r.role, type))))) : null));
    const roles = [...new Set([...(r.roles || []), 'manager'])];
    redraw(foot, JSON.stringify([roles, r.room]), () => (can('emit') ? form(roles) : null));
  }

  function form(roles) {
    const text = h('textarea', { name: 'body', rows: 2, required: true, placeholder: 'Say something…', 'aria-label': 'Message', dir: 'auto', onkeydown: (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); f.requestSubmit(); } } });
    const from = select('from', roles.map((r) => [r, 'as ' + clean(r)]), roles[roles.length - 1], { 'aria-label': 'As' });
    const to = select('to', [...roles].map((r) => [r, 'to ' + clean(r)]), roles[0], { 'aria-label': 'To' });
    const type = select('type', TYPES, 'task', { 'aria-label': 'Type' });
    fill = (as, what) => {
      for (const [el, value] of [[from, as], [to, 'manager'], [type, what]]) {
        if (![...el.options].some((o) => o.value === value)) el.append(h('option', { value }, clean(value)));
        el.value = value;
      }
      text.focus();
    };
    const f = h('form', {
      onsubmit: async (e) => {
        e.preventDefault();
        try {
          const answer = await post(at('rooms', room, 'messages'), body({ from: from.value, to: to.value, type: type.value, body: text.value }));
          if (answer.truncated) toast('It was too long, and was cut');
          text.value = '';
          sent = true;
          look.now();
        } catch (err) { toast(err.message, 'error'); }
      },
    }, text, h('div', { class: 'bar-top' }, from, type, to, h('span', { class: 'grow' }), h('button', { class: 'primary', type: 'submit', title: 'Ctrl+Enter' }, 'Post')));
    return f;
  }
  function signOff() {
    return dialog('Sign off', [field('As', select('from', it.unsigned, it.unsigned[0])), field('What you say', h('textarea', { name: 'body', rows: 3, required: true }))], { label: 'Sign off', submit: (v) => post(at('rooms', room, 'signoff'), body({ from: v.from, body: v.body })) }).then((ok) => { if (ok) toast('Signed off'); look.now(); });
  }

  const look = watch(async () => {
    try {
      const [r, list] = await Promise.all([get(at('rooms', room), { project }), get(at('rooms', room, 'messages'), { project, after: last, limit: 100 })]);
      it = r;
      draw();
      const down = sent || last === null || scroll.scrollTop + scroll.clientHeight > scroll.scrollHeight - 60;
      for (const m of list) said.append(message(m));
      if (list.length) last = list[list.length - 1].id || last;
      if (list.length && down) scroll.scrollTop = scroll.scrollHeight;
      if (list.length) sent = false;
      if (list.length === 100 && last) look.now();
    } catch (e) {
      if (!it) put(top, empty(e.message));
    }
  }, 300, (s) => !s || isRoom(s));
  look.now();
  return { id, stop: look.stop };
}
