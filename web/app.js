/*
 * app - the frame of the page: signing in, the pages and their links, the connection, the keyboard.
 *
 * One address is one place: #/PAGE/…; each page module gets the parts behind its name.
 */
import { can, forget, kept, mayRead, mayStream, me, signIn, stream, whenSignedOut, withTicket } from './api.js';
import { button, dialog, h, put, s, say } from './dom.js';
import { hubPage } from './hub.js';
import { inbox, needsPage } from './needs.js';
import { roomsPage } from './rooms.js';
import { runsPage } from './runs.js';
import { signalsPage } from './signals.js';
import { signals } from './store.js';
import { clean, duration, now, setNow, when } from './text.js';

const root = document.getElementById('app');
const PAGES = [
  { id: 'runs', name: 'Runs', key: 'r', make: runsPage, may: () => can('audit') },
  { id: 'needs', name: 'Needs you', key: 'n', make: needsPage, may: () => true },
  { id: 'signals', name: 'Signals', key: 's', make: signalsPage, may: () => mayRead() || mayStream() },
  { id: 'rooms', name: 'Rooms', key: 'o', make: roomsPage, may: () => mayRead() },
  { id: 'hub', name: 'Hub', key: 'h', make: hubPage, may: () => mayRead() },
];
const THEME = 'cliq.theme';
const AFTER_PAGE_MS = 200; /* what is looked at comes first: a browser asks six things at a time */
let now_ = null; /* the page that is shown: {def, page} */
let shell = null;

/* ---- light and dark ---- */

function theme(name) {
  if (name === 'light' || name === 'dark') document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  try { if (name) localStorage.setItem(THEME, name); } catch { /* not kept, then */ }
}
try { theme(localStorage.getItem(THEME) || ''); } catch { /* as the system says */ }
function flip() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  theme(dark ? 'light' : 'dark');
}

/* ---- signing in ---- */

function brand() {
  return h('span', { class: 'brand' }, s('svg', { width: 20, height: 20, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, s('path', { d: 'M4 8h8M4 8l5-4.5M4 8l5 4.5', class: 'wire' }), [[3.5, 8, 2.5], [11, 3, 2], [12.5, 8, 2], [11, 13, 2]].map(([cx, cy, r]) => s('circle', { cx, cy, r }))), 'cliq');
}

function gate(problem) {
  leave();
  shell = null;
  document.title = 'Sign in · cliq';
  const key = h('input', { type: 'password', name: 'key', id: 'key', autocomplete: 'off', spellcheck: 'false', required: true, placeholder: 'cho_…', 'aria-describedby': 'key-help' });
  const keep = h('input', { type: 'checkbox', name: 'keep' });
  const said = h('p', { class: 'problem', role: 'alert' }, problem || '');
  const form = h('form', {
    onsubmit: async (e) => {
      e.preventDefault();
      said.textContent = '';
      try {
        await signIn(key.value, keep.checked);
        enter();
      } catch (err) {
        said.textContent = err.message;
        key.select();
      }
    },
  }, h('h1', {}, brand()), h('label', { for: 'key' }, 'Key'), key, h('label', { class: 'check' }, keep, ' keep it in this tab until it is closed'), said, h('button', { class: 'primary', type: 'submit' }, 'Sign in'),
  h('p', { class: 'quiet', id: 'key-help' }, h('code', {}, 'cliq web'), ' opens this page signed in. ', h('code', {}, 'cliq key create --identity NAME'), ' makes a key.'));
  put(root, h('main', { class: 'gate' }, form));
  key.focus();
}

async function begin() {
  const ticket = /^#ticket=([0-9a-f]+)$/.exec(location.hash);
  if (ticket) {
    history.replaceState(null, '', location.pathname + '#/');
    try {
      await withTicket(ticket[1]);
      return enter();
    } catch (e) {
      return gate(e.message);
    }
  }
  const key = kept();
  if (!key) return gate();
  try {
    await signIn(key, true);
  } catch (e) {
    if (e.status !== 0) return gate(e.message);
    put(root, h('main', { class: 'gate' }, h('p', { class: 'quiet', role: 'status' }, 'reconnecting')));
    setTimeout(begin, 1000);
    return undefined;
  }
  return enter();
}
whenSignedOut((why) => gate(why));

/* ---- the frame ---- */

const may = () => PAGES.filter((p) => p.may());

function enter() {
  setNow(me.now);
  signals.reset();
  const line = h('span', { class: 'line', role: 'status', 'aria-live': 'polite' });
  const links = h('ul', {}, may().map((p) => h('li', {}, h('a', { href: '#/' + p.id, 'data-page': p.id }, p.name, p.id === 'needs' ? h('span', { class: 'badge', hidden: true }) : null))));
  const content = h('main', { id: 'content', tabindex: '-1' });
  put(root, h('a', { class: 'skip', href: '#content', onclick: (e) => { e.preventDefault(); content.focus(); } }, 'Skip to content'),
    h('header', { class: 'top' }, brand(), h('nav', { 'aria-label': 'Pages' }, links), line,
      h('span', { class: 'me' }, h('span', { class: 'who', dir: 'auto', title: 'This key allows: ' + me.scopes.join(', ') }, clean(me.identity)),
        button(s('svg', { width: 16, height: 16, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, s('circle', { cx: 8, cy: 8, r: 6, class: 'ring' }), s('path', { d: 'M8 2a6 6 0 0 0 0 12z', class: 'fill' })), flip, { class: 'plain', 'aria-label': 'Light or dark', title: 'Light or dark' }),
        button('?', keysHelp, { class: 'plain', 'aria-label': 'Keys', title: 'Keys (?)' }),
        button('Sign out', () => { forget(); gate(); }, { class: 'plain' }))),
    content);
  shell = { line, links, content };
  stream.start(me.sequence);
  route();
  inbox.start(now_.def.id === 'needs' ? 0 : AFTER_PAGE_MS);
  shown();
}

function leave() {
  now_?.page.stop();
  now_ = null;
  inbox.stop();
}

/* "live", or "reconnecting" since the connection is lost. */
const WORDS = { live: 'live', lost: 'reconnecting', off: '' };
stream.on('state', (state) => {
  if (!shell) return;
  shell.line.textContent = WORDS[state];
  shell.line.className = 'line ' + state;
  document.body.classList.toggle('is-lost', state === 'lost');
});

function shown() {
  if (!shell) return;
  const n = inbox.items?.length || 0, badge = shell.links.querySelector('.badge');
  if (badge) {
    badge.hidden = !n;
    badge.textContent = n > 99 ? '99+' : n;
    badge.setAttribute('aria-label', n + ' things need you');
  }
  document.title = (n ? `(${n}) ` : '') + (now_?.title || 'cliq') + ' · cliq';
}
inbox.listeners.add(shown);

function route() {
  if (!shell) return;
  const parts = location.hash.replace(/^#\/?/, '').split('/').map((p) => { try { return decodeURIComponent(p); } catch { return p; } }).filter(Boolean);
  const def = may().find((p) => p.id === parts[0]) || may()[0];
  if (now_?.def !== def) {
    now_?.page.stop();
    shell.content.replaceChildren();
    shell.content.className = 'page-' + def.id;
    now_ = { def, page: def.make(shell.content) };
    say(def.name);
  }
  for (const a of shell.links.querySelectorAll('a')) {
    if (a.dataset.page === def.id) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  now_.title = now_.page.route(parts[0] === def.id ? parts.slice(1) : []) || def.name;
  shown();
}
addEventListener('hashchange', route);

/* ---- the keyboard ---- */

const KEYS = [
  ['g then r n s o h', 'Runs, Needs you, Signals, Rooms, Hub'], ['/', 'to the filter'], ['l', 'to the list'], ['↑ ↓ j k', 'in a list: up and down'], ['Home End PgUp PgDn', 'in a list: far'], ['Enter', 'open'],
  ['Esc', 'close what is open'], ['c', 'write a signal (in Signals)'], ['t', 'light or dark'], ['?', 'these keys'],
];
function keysHelp() {
  dialog('Keys', h('dl', { class: 'keys' }, KEYS.map(([k, what]) => [h('dt', {}, k.split(' ').map((x) => (x === 'then' ? ' then ' : h('kbd', {}, x)))), h('dd', {}, what)])));
}
let went = 0;
addEventListener('keydown', (e) => {
  const typing = e.target.closest?.('input,textarea,select,[contenteditable]');
  if (!shell || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  if (e.key === 'Escape') {
    if (typing) e.target.blur();
    else {
      const close = document.querySelector('.close') || document.querySelector('.has-detail .back-link');
      if (close) location.hash = close.getAttribute('href');
    }
    return;
  }
  if (typing) return;
  const page = Date.now() - went < 1200 && may().find((p) => p.key === e.key);
  went = 0;
  if (page) location.hash = '#/' + page.id;
  else if (e.key === 'g') went = Date.now();
  else if (e.key === '?') keysHelp();
  else if (e.key === '/') document.querySelector('input[type=search]')?.focus();
  else if (e.key === 'l' || e.key === 'j') now_?.page.focus?.();
  else if (e.key === 'c') now_?.page.compose?.();
  else if (e.key === 't') flip();
  else return;
  e.preventDefault();
});

/* ---- time goes on ---- */

setInterval(() => {
  if (document.hidden) return;
  for (const t of document.querySelectorAll('time[data-age]')) {
    const words = when(t.getAttribute('datetime'));
    if (t.textContent !== words) t.textContent = words;
  }
}, 15000);
setInterval(() => {
  if (document.hidden) return;
  for (const t of document.querySelectorAll('[data-since]')) t.textContent = duration(now() - Date.parse(t.dataset.since));
}, 1000);

begin();
