/*
 * store - what the pages share: the signals that were seen, the names of the hub, and when to look again.
 */
import { can, get, me, page, stream } from './api.js';

/* Calls fn at once and then at most every `ms`, and once more after the last call. A hidden page waits, unless `always`. */
export function throttle(fn, ms, always = false) {
  let timer = null, again = false, last = -1e9;
  const run = async () => {
    timer = null;
    if (document.hidden && !always) { again = true; return; }
    again = false;
    last = performance.now();
    try { await fn(); } catch { /* a refusal: the next event asks again */ }
  };
  const call = () => {
    if (timer !== null) return;
    timer = setTimeout(run, Math.max(0, ms - (performance.now() - last)));
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden && again) call(); });
  return call;
}

/* ---- signals ---- */

const MAX = 200000;

/* All that were seen, oldest first, by their number. */
export const signals = {
  all: [],
  byId: new Map(),
  listeners: new Set(),
  cursor: undefined, /* of the next older page; null: there is none */
  loading: null,

  reset() {
    this.all = [];
    this.byId = new Map();
    this.cursor = undefined;
    this.loading = null;
  },

  tell(kind, list) {
    for (const fn of this.listeners) fn(kind, list);
  },

  /* New ones, of the stream. */
  push(list) {
    const last = this.all.length ? this.all[this.all.length - 1].sequence : -1;
    const fresh = list.filter((s) => s.sequence > last);
    for (const s of fresh) {
      this.all.push(s);
      this.byId.set(s.id, s);
    }
    if (this.all.length > MAX) for (const s of this.all.splice(0, this.all.length - MAX + 1000)) this.byId.delete(s.id);
    if (fresh.length) this.tell('new', fresh);
  },

  /* A page of older ones. */
  older() {
    if (this.cursor === null || this.all.length >= MAX) return Promise.resolve();
    this.loading ??= (async () => {
      try {
        const answer = await page('/signals/list', { limit: 100, after: this.cursor });
        this.cursor = answer.meta.cursor || null;
        const first = this.all.length ? this.all[0].sequence : Infinity;
        const list = answer.data.filter((s) => s.sequence < first && !this.byId.has(s.id)).reverse();
        for (const s of list) this.byId.set(s.id, s);
        this.all = list.concat(this.all);
        this.tell('older', list);
      } finally {
        this.loading = null;
      }
    })();
    return this.loading;
  },

  /* One as it is now. */
  async fresh(id) {
    const s = await get('/signals/' + encodeURIComponent(id));
    const old = this.byId.get(id);
    if (old) {
      Object.assign(old, s);
      this.tell('same', [old]);
      return old;
    }
    return s;
  },
};

stream.on('signals', (list) => signals.push(list));
stream.on('reset', () => {
  signals.reset();
  signals.tell('reset', []);
});

/* ---- looking again ---- */

/* fn is called when something may have changed that `wants` cares about: signals, or null for other changes. */
export function watch(fn, ms = 500, wants = () => true, always = false) {
  const call = throttle(fn, ms, always);
  const offs = [
    stream.on('signals', (list) => { if (list.some(wants)) call(); }),
    stream.on('changed', () => { if (wants(null)) call(); }),
    stream.on('state', (state) => { if (state === 'live') call(); }),
  ];
  return { now: call, stop: () => offs.forEach((off) => off()) };
}

/* ---- names ---- */

export const names = { roles: [], rings: [], identities: [], mine: { roles: [], rings: [] } };
let loading = null;
/* Those who ask at the same time share the answers. */
export const loadNames = () => (loading ??= askNames().finally(() => { loading = null; }));
async function askNames() {
  if (!can('inbox') && !can('audit')) return names;
  [names.roles, names.rings, names.identities] = await Promise.all([get('/roles'), get('/rings'), get('/identities')]);
  const self = names.identities.find((i) => i.id === me?.identity);
  names.mine = { roles: self?.roles || [], rings: self?.rings || [] };
  return names;
}
