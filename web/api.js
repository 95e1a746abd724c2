/*
 * api - the server asked, and heard: requests with the key, and the one stream of events.
 *
 * The key is in memory. On request it is kept in sessionStorage too, which ends with the tab.
 */
const KEPT = 'cliq.key';
let key = null;
export let me = null;

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/* ---- latency of answers, as this browser sees it ---- */

export const latencies = [];
function noted(ms) {
  latencies.push(ms);
  if (latencies.length > 500) latencies.splice(0, 250);
}

/* ---- requests ---- */

let onLost = () => {};
export const whenSignedOut = (fn) => { onLost = fn; };

/* `as`: the body of the answer as text, which is JSON mostly, or as blob(). */
export async function ask(method, path, body, as = 'text') {
  let answer, text;
  const begun = performance.now();
  try {
    answer = await fetch(path, {
      method,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      headers: { ...(key ? { Authorization: 'Bearer ' + key } : {}), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await answer[answer.ok ? as : 'text']();
    noted(performance.now() - begun);
  } catch {
    throw new Refused(0, 'GONE', 'the server does not answer: is cliq serve running?');
  }
  if (answer.ok && as !== 'text') return text;
  let doc;
  try { doc = JSON.parse(text); } catch { doc = null; }
  if (answer.ok) return doc ?? text;
  if (answer.status === 401 && key && path !== '/sign-in') {
    forget();
    onLost(doc?.error?.message || 'the key is no longer valid');
  }
  throw new Refused(answer.status, doc?.error?.code || '', (typeof doc?.error === 'string' ? doc.error : doc?.error?.message) || 'the server answered ' + answer.status);
}

const query = (args) => {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(args || {})) if (v !== undefined && v !== null && v !== '') q.set(k, Array.isArray(v) ? v.join(',') : v);
  const text = q.toString();
  return text ? '?' + text : '';
};
export const get = async (path, args) => (await ask('GET', path + query(args))).data;
export const page = (path, args) => ask('GET', path + query(args));
export const post = async (path, body) => (await ask('POST', path, body)).data;
export const remove = (path, args) => ask('DELETE', path + query(args));
export const text = (path) => ask('GET', path);
export const blob = (path, args) => ask('GET', path + query(args), undefined, 'blob');
export const at = (...parts) => '/' + parts.map(encodeURIComponent).join('/');

/* ---- signing in ---- */

export const can = (scope) => !!me && (me.scopes.includes('admin') || me.scopes.includes(scope));
/* What only reads signals is allowed to the scope audit, too. */
export const mayRead = () => can('inbox') || can('audit');
export const mayStream = () => can('stream') || can('audit');

export async function signIn(text, keep) {
  key = text.trim();
  try {
    me = await get('/whoami');
  } catch (e) {
    key = null;
    throw e;
  }
  try {
    if (keep) sessionStorage.setItem(KEPT, key);
  } catch { /* a browser without storage: in memory, then */ }
  return me;
}
export async function withTicket(ticket) {
  const { key: text } = await post('/sign-in', { ticket });
  return signIn(text, true);
}
export const kept = () => {
  try { return sessionStorage.getItem(KEPT); } catch { return null; }
};
export function forget() {
  key = me = null;
  try { sessionStorage.removeItem(KEPT); } catch { /* as above */ }
  stream.stop();
}

/* ---- the stream ---- */

/*
 * A browser opens six connections to a server, for all of its tabs: six streams would leave none for anything
 * else. So at most SLOTS tabs keep their stream, by a lock each. A tab without one glances at it, for a second
 * in three, and resumes where it was; one in the background gives its slot to one that is looked at.
 */
const SLOTS = 4, GLANCE_MS = 1000, PAUSE_MS = 2000, PAUSE_HIDDEN_MS = 20000;
const others = 'BroadcastChannel' in globalThis ? new BroadcastChannel('cliq.streams') : null;
const slot = {
  end: null, /* gives the lock back */

  /* Browsers have locks on loopback and with TLS only; elsewhere each tab keeps its stream. */
  async take() {
    if (!navigator.locks || !others) return true;
    for (let i = 0; i < SLOTS && !this.end; i++)
      await new Promise((tried) => {
        navigator.locks.request('cliq.stream.' + i, { ifAvailable: true }, (lock) => {
          tried();
          return lock && !this.end && new Promise((end) => { this.end = end; });
        }).catch(tried);
      });
    return !!this.end;
  },

  give() {
    if (!this.end) return;
    this.end();
    this.end = null;
    others.postMessage('free');
  },
};

/*
 * One connection for everything. It is read with fetch, so the key is in a header and in no address, and
 * is resumed with Last-Event-ID. The server sends a comment each second: one that says nothing for QUIET_MS is
 * told as lost, and its connection is given up after SILENCE_MS.
 */
const QUIET_MS = 1500, SILENCE_MS = 10000;
class Stream {
  constructor() {
    this.listeners = { signals: [], changed: [], state: [], reset: [] };
    this.state = 'off';
    others?.addEventListener('message', ({ data }) => {
      if (data === 'want' && slot.end && document.hidden) this.pause();
      else if (data === 'free' && !slot.end && !document.hidden) this.again();
    });
    document.addEventListener('visibilitychange', () => { if (!document.hidden && !slot.end) this.again(); });
  }

  /* Does this tab keep its stream? */
  get hasSlot() { return !!slot.end; }

  on(what, fn) {
    this.listeners[what].push(fn);
    return () => { this.listeners[what] = this.listeners[what].filter((f) => f !== fn); };
  }

  tell(what, value) {
    for (const fn of this.listeners[what]) fn(value);
  }

  set(state) {
    if (state === this.state) return;
    this.state = state;
    this.tell('state', state);
  }

  start(since) {
    this.stop();
    this.last = String(since);
    this.wait = 250;
    this.run(this.life = {});
  }

  stop() {
    this.life = null;
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    if (this.abort) this.abort.abort();
    slot.give();
    this.set('off');
  }

  /* Gives its slot, or its glance, up. */
  pause() {
    this.isPaused = true;
    this.abort?.abort();
  }

  /* Ends a pause between two glances. */
  again() {
    if (!this.life || this.state !== 'live' || !this.isPaused) return;
    clearTimeout(this.timer);
    this.run(this.life);
  }

  async run(life) {
    const abort = this.abort = new AbortController();
    let glance;
    this.isPaused = false;
    try {
      if (!(await slot.take())) {
        if (!document.hidden) others.postMessage('want');
        glance = () => setTimeout(() => { if (abort === this.abort) this.pause(); }, GLANCE_MS);
      }
      if (life !== this.life) {
        if (!this.life) slot.give();
        return;
      }
      const answer = await fetch('/signals/stream?changes=true&keepalive=1', {
        cache: 'no-store', credentials: 'omit', redirect: 'error', signal: abort.signal,
        headers: { Authorization: 'Bearer ' + key, 'Last-Event-ID': this.last },
      });
      if (life !== this.life) return;
      if (answer.status === 401) {
        forget();
        onLost('the key is no longer valid');
        return;
      }
      if (answer.status === 403) {
        slot.give();
        this.set('off');
        return;
      }
      if (!answer.ok) throw new Error('status ' + answer.status);
      this.wait = 250;
      this.set('live');
      glance?.();
      await this.read(answer.body.getReader(), life);
    } catch { /* lost: below */ }
    if (life !== this.life) return;
    abort.abort();
    clearTimeout(this.silence);
    if (this.isPaused) {
      slot.give();
      this.timer = setTimeout(() => this.run(life), document.hidden ? PAUSE_HIDDEN_MS : PAUSE_MS);
      return;
    }
    this.set('lost');
    this.timer = setTimeout(() => this.run(life), this.wait);
    this.wait = Math.min(2000, this.wait * 2);
  }

  alive() {
    clearTimeout(this.silence);
    if (this.state === 'lost') this.set('live');
    const later = (ms, fn) => { this.silence = setTimeout(fn, ms); };
    /* after a long task of the page what came meanwhile is read first */
    later(QUIET_MS, () => later(100, () => {
      this.set('lost');
      later(SILENCE_MS - QUIET_MS, () => this.abort?.abort());
    }));
  }

  async read(reader, life) {
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      this.alive();
      const { done, value } = await reader.read();
      if (done || life !== this.life) return;
      rest += decoder.decode(value, { stream: true });
      const end = rest.lastIndexOf('\n\n');
      if (end < 0) continue;
      const whole = rest.slice(0, end);
      rest = rest.slice(end + 2);
      this.take(whole);
    }
  }

  take(text) {
    const signals = [];
    for (const event of text.split('\n\n')) {
      let data = '', name = '';
      for (const line of event.split('\n')) {
        if (line.startsWith('data: ')) data += line.slice(6);
        else if (line.startsWith('id: ')) this.last = line.slice(4);
        else if (line.startsWith('event: ')) name = line.slice(7);
      }
      if (!data) continue;
      let it;
      try { it = JSON.parse(data); } catch { continue; }
      if (it.id) signals.push(it);
      else if (name === 'changed') this.tell('changed', it.changed);
      else if (name === 'reset') this.tell('reset', it);
    }
    if (signals.length) this.tell('signals', signals);
  }
}
export const stream = new Stream();
