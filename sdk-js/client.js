// client - CliqClient: the hub over HTTP (`cliq serve`), in Node and in browsers. It imports nothing.
//
//     const hub = new CliqClient({ url: 'http://127.0.0.1:3000', key });
//     const task = await hub.emit({ signal_type: 'task', content: 'Review PR #42', to_role: 'reviewer' });
//     const worker = hub.work({ role: 'reviewer' }, async (task) => { … });          // claims, acks or fails
//     const news = hub.signals.subscribe({ pattern: 'build:*:done' }, (signal) => { … });
//
// Calls return the answer's data; an error of the server is a CliqClientError with its code and status. While
// the server cannot be reached, a call is tried again for retry_ms. Calls that make something carry an
// Idempotency-Key, so that a lost answer never makes two. A subscription outlives restarts of the server: it
// goes on behind the last signal that on_signal took, without a gap and without a repeat. When it ends by an error,
// `closed` of a subscription and `done` of a worker reject; an error that the program does not look at ends it.

const RETRY_MS = 10_000;
const PAUSE_MS = 100; // before another try; doubled each time, to
const PAUSE_MAX = 5_000;
const ANSWER_MS = 30_000; // for an answer, besides wait_seconds
const SILENCE_MS = 45_000; // three times the server's keepalive: the connection is dead
const LEASE_S = 300;
const WAIT_S = 30;
const TIMER_MAX = 2 ** 31 - 1; // ms; above it a timer fires at once

export class CliqClientError extends Error {
  constructor(message, { status, code, request_id, details } = {}) {
    super(message);
    this.name = 'CliqClientError';
    Object.assign(this, { status, code, request_id, details });
  }
}

// Is it worth another try? The server was not reached, or says that it cannot now.
function is_passing(problem) {
  return !(problem instanceof CliqClientError) || problem.status >= 500 || problem.status === 429;
}

function sleep(ms, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

function check_function(call, what, value) {
  if (typeof value !== 'function') throw new TypeError(`CliqClient: ${call}: ${what} is not a function`);
}

// It only has to be unique among the requests of one key, within a day.
function random_key() {
  const part = () => Math.floor(Math.random() * 2 ** 32).toString(16).padStart(8, '0');
  return Array.from({ length: 4 }, part).join('');
}

function query_of(args = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(args))
    if (value !== undefined && value !== null) query.set(key, Array.isArray(value) ? value.join(',') : String(value));
  const text = query.toString();
  return text && `?${text}`;
}

// A task, or the id of one.
const id_of = (task) => (typeof task === 'string' ? task : task.id);
const claim_of = (task) => ({ signal_id: id_of(task), ...(task.claim_id && { claim_id: task.claim_id }) });

async function unwrap(response) {
  let answer;
  try {
    answer = await response.json();
  } catch {
    answer = undefined;
  }
  if (typeof answer !== 'object' || answer === null)
    throw new CliqClientError(`${response.url} responded ${response.status}, but not in the hub's format: is it a cliq server?`,
      { status: response.status });
  if (response.ok && answer.ok !== false) return answer;
  const error = typeof answer.error === 'object' ? answer.error : { message: answer.error };
  throw new CliqClientError(error.message ?? `the server responded ${response.status}`, { ...error, status: response.status });
}

// ---- an event stream, as the HTML standard has it ----

export class EventParser {
  #rest = '';
  #event = { type: '', data: [], id: undefined };

  // The events that this piece of text completes: { type, data, id }. One without data has an id only.
  feed(text) {
    const events = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (line === '') {
        const { type, data, id } = this.#event;
        if (data.length || id !== undefined) events.push({ type, data: data.length ? data.join('\n') : undefined, id });
        this.#event = { type: '', data: [], id: undefined };
      } else if (field === 'event') this.#event.type = value;
      else if (field === 'data') this.#event.data.push(value);
      else if (field === 'id' && !value.includes('\0')) this.#event.id = value;
    }
    return events;
  }
}

export class Subscription {
  #hub;
  #path;
  #on;
  #abort = new AbortController();
  #sequence;
  #pause = 0;

  constructor(hub, filter, on) {
    const { since, ...rest } = filter;
    this.#hub = hub;
    this.#on = on;
    this.#sequence = since;
    this.#path = `/signals/stream${query_of(rest)}`;
    this.closed = this.#follow(); // resolves after close; rejects when the server refuses, or on_signal throws
  }

  // The number of the last signal that on_signal took: `since` of a later subscription.
  get sequence() {
    return this.#sequence;
  }

  // on_signal is not called again. It may be called by on_signal, so it does not wait for that: `closed` does.
  async close() {
    this.#abort.abort();
  }

  async #follow() {
    let is_up = false;
    while (!this.#abort.signal.aborted) {
      try {
        await this.#connect(() => {
          is_up = true;
          this.#pause = 0;
        });
      } catch (problem) {
        if (this.#abort.signal.aborted) return;
        if (problem.is_own || !is_passing(problem) || !is_up) throw problem.is_own ? problem.cause : problem;
        this.#on.state?.(problem);
      }
      this.#pause = Math.min(this.#pause * 2 || PAUSE_MS, PAUSE_MAX);
      await sleep(this.#pause, this.#abort.signal);
    }
  }

  async #connect(connected) {
    const watch = new AbortController();
    const stop = () => watch.abort();
    let timer = setTimeout(stop, SILENCE_MS);
    this.#abort.signal.addEventListener('abort', stop);
    try {
      const headers = { ...this.#hub._headers, Accept: 'text/event-stream' };
      if (this.#sequence !== undefined) headers['Last-Event-ID'] = String(this.#sequence);
      const response = await fetch(this.#hub.url + this.#path, { headers, signal: watch.signal });
      if (!response.ok) await unwrap(response);
      connected();
      this.#on.state?.(undefined);
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(timer);
        timer = setTimeout(stop, SILENCE_MS);
        for (const event of parser.feed(part.value)) await this.#take(event);
      }
    } finally {
      clearTimeout(timer);
      this.#abort.signal.removeEventListener('abort', stop);
      watch.abort();
    }
  }

  async #take({ type, data, id }) {
    const sequence = Number(id);
    if (!/^\d+$/.test(id ?? '') || this.#abort.signal.aborted) return;
    if (data === undefined) {
      this.#sequence ??= sequence; // where the stream begins
      return;
    }
    if (this.#sequence !== undefined && sequence <= this.#sequence) return;
    const signal = JSON.parse(data);
    try {
      if (type === 'reset' && signal.id === undefined) await this.#on.reset?.(signal);
      else await this.#on.signal(signal);
    } catch (cause) {
      throw Object.assign(new Error('on_signal failed', { cause }), { is_own: true });
    }
    this.#sequence = sequence;
  }
}

// ---- workers ----

export class Worker {
  #hub;
  #want;
  #handler;
  #abort = new AbortController();

  constructor(hub, { concurrency = 1, on_error, ...want }, handler) {
    this.#hub = hub;
    this.#handler = handler;
    this.#want = { lease_seconds: LEASE_S, ...want, wait_seconds: Math.max(1, want.wait_seconds ?? WAIT_S) };
    this.on_error = on_error;
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new TypeError(`CliqClient: work: concurrency must be 1 or more, not ${concurrency}`);
    this.done = Promise.all(Array.from({ length: concurrency }, () => this.#loop())); // rejects when claims are refused
  }

  // Claims no more tasks; resolves when those at work have ended. A handler may call it, but not await it: it
  // would wait for itself.
  stop() {
    this.#abort.abort();
    return this.done;
  }

  async #loop() {
    let pause = 0;
    while (!this.#abort.signal.aborted) {
      try {
        const task = await this.#hub.claim(this.#want, { signal: this.#abort.signal });
        pause = 0;
        if (task) await this.#do(task);
      } catch (problem) {
        if (this.#abort.signal.aborted) return;
        if (!is_passing(problem)) throw problem;
        this.on_error?.(problem);
        pause = Math.min(pause * 2 || PAUSE_MS, PAUSE_MAX);
        await sleep(pause, this.#abort.signal);
      }
    }
  }

  // While the handler works, the lease is extended; when it is lost, the handler's signal is aborted.
  async #do(task) {
    const lost = new AbortController();
    const renew = () => this.#hub.extend(task, this.#want.lease_seconds).catch((problem) => {
      if (!is_passing(problem)) lost.abort(problem);
    });
    const timer = setInterval(renew, Math.min((this.#want.lease_seconds * 1000) / 3, TIMER_MAX));
    let failure; // its text
    try {
      await this.#handler(task, { signal: lost.signal });
    } catch (problem) {
      failure = String(problem?.message || problem);
    } finally {
      clearInterval(timer);
    }
    try {
      if (failure !== undefined) await this.#hub.fail(task, failure);
      else await this.#hub.ack(task);
    } catch (problem) {
      this.on_error?.(problem); // the lease was lost: another worker has the task
    }
  }
}

// ---- the client ----

class Signals {
  #hub;

  constructor(hub) {
    this.#hub = hub;
  }

  // Follows the stream of signals. filter: ring, type, pattern, min_urgency, tags, role, inbox, since.
  // on_signal may be async: the next signal waits for it.
  subscribe(filter, on_signal, { on_reset, on_state } = {}) {
    check_function('signals.subscribe(filter, on_signal)', 'on_signal', on_signal);
    return new Subscription(this.#hub, filter, { signal: on_signal, reset: on_reset, state: on_state });
  }
  // Broadcasts a signal to all subscribers.
  async generate(type, data, more = {}) {
    return (await this.#hub.request('POST', '/v1/engine/signals/generate', { body: { type, data, ...more }, is_made: true })).signal;
  }
  // The same later: deliverAt is a Date, milliseconds, or an ISO time.
  async schedule(type, deliverAt, more = {}) {
    const body = { type, deliverAt: deliverAt instanceof Date ? deliverAt.getTime() : deliverAt, ...more };
    const answer = await this.#hub.request('POST', '/v1/engine/signals/delayed', { body, is_once: more.repeatKey === undefined });
    return answer.delayed;
  }
  async delayed() {
    return (await this.#hub.request('GET', '/v1/engine/signals/delayed')).events;
  }
  // Cancels what waits: { id }, { repeatKey } or { type }.
  async cancel(which) {
    const { ok, ...rest } = await this.#hub.request('DELETE', '/v1/engine/signals/delayed', { query: which });
    return rest;
  }
}

export class CliqClient {
  constructor({ url = globalThis.process?.env?.CLIQ_URL, key = globalThis.process?.env?.CLIQ_KEY, retry_ms = RETRY_MS } = {}) {
    const where = String(url ?? '');
    if (!where) throw new CliqClientError('CliqClient: url must be set, or CLIQ_URL: http://HOST:PORT, as cliq serve prints it');
    if (!/^https?:\/\/[^/]/.test(where)) throw new CliqClientError(`CliqClient: url must be http://HOST:PORT or https://…, not "${where}"`);
    const secret = String(key ?? '').trim(); // from a file it has a line end
    if (!secret) throw new CliqClientError('CliqClient: key must be set, or CLIQ_KEY: cliq key create --identity NAME makes one');
    if (!/^[\x21-\x7e]+$/.test(secret)) throw new CliqClientError('CliqClient: key has characters that no key has');
    this.url = where.replace(/\/+$/, '');
    this.retry_ms = retry_ms;
    this.signals = new Signals(this);
    Object.defineProperty(this, '_headers', { value: { Authorization: `Bearer ${secret}` } }); // not shown by console.log
  }

  // Any call of /openapi.json. is_made: it carries an Idempotency-Key; is_once: it is not tried again.
  async request(method, path, { query, body, is_made, is_once, signal } = {}) {
    const headers = { ...this._headers };
    if (body) headers['Content-Type'] = 'application/json';
    if (is_made && body.dedup_key === undefined) headers['Idempotency-Key'] = random_key();
    const text = body && JSON.stringify(body);
    const limit_ms = ANSWER_MS + 1000 * (body?.wait_seconds ?? 0);
    const end = Date.now() + this.retry_ms;
    for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, PAUSE_MAX)) {
      const watch = new AbortController();
      const stop = () => watch.abort();
      const timer = setTimeout(stop, limit_ms);
      signal?.addEventListener('abort', stop);
      try {
        const response = await fetch(this.url + path + query_of(query), { method, headers, body: text, signal: watch.signal });
        return await unwrap(response);
      } catch (problem) {
        if (is_once || signal?.aborted || !is_passing(problem) || Date.now() + pause > end) {
          if (problem instanceof CliqClientError) throw problem;
          throw new CliqClientError(`${this.url} cannot be reached: ${problem.cause?.message ?? problem.message}`, { status: 503, code: 'UNREACHABLE' });
        }
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
      }
      await sleep(pause, signal);
    }
  }
  async #data(method, path, options) {
    const { data, meta } = await this.request(method, path, options);
    if (Array.isArray(data) && meta?.cursor) Object.defineProperty(data, 'cursor', { value: meta.cursor });
    return data;
  }
  #post(path, body, options) {
    return this.#data('POST', path, { body, ...options });
  }

  emit(signal) {
    if (typeof signal !== 'object') throw new TypeError('CliqClient: emit takes one object: { signal_type, content, … }');
    return this.#post('/emit', signal, { is_made: true });
  }
  emit_batch(signals) {
    return this.#post('/emit/batch', { signals }, { is_made: true });
  }
  // A task, or null: signal_id for a certain one; role, types, lease_seconds, wait_seconds for the next.
  claim(want = {}, { signal } = {}) {
    return this.#post('/claim', want, { is_made: true, signal });
  }
  // The claim's end; `task` is what claim returned, or an id.
  ack(task) {
    return this.#post('/ack', claim_of(task));
  }
  extend(task, lease_seconds = LEASE_S) {
    return this.#post('/extend', { ...claim_of(task), lease_seconds });
  }
  release(task) {
    return this.#post('/release', claim_of(task));
  }
  fail(task, error, { retry_in } = {}) {
    return this.#post('/fail', { ...claim_of(task), error, retry_in });
  }
  status(task, task_status) {
    return this.#post('/status', { ...claim_of(task), task_status });
  }
  requeue(task) {
    return this.#post('/requeue', { signal_id: id_of(task) });
  }
  // The signals of an inbox, "role" or "@identity". The array's cursor is `after` of the next page.
  inbox(target, filter = {}) {
    return this.#data('GET', `/inbox/${encodeURIComponent(target)}`, { query: filter });
  }
  thread(id) {
    return this.#data('GET', `/thread/${encodeURIComponent(id_of(id))}`);
  }
  list(filter = {}) {
    return this.#data('GET', '/signals/list', { query: filter });
  }
  get(id) {
    return this.#data('GET', `/signals/${encodeURIComponent(id_of(id))}`);
  }
  history(id) {
    return this.#data('GET', `/signals/${encodeURIComponent(id_of(id))}/history`);
  }
  // Claims tasks as they come, `concurrency` at a time: the handler's return acks a task, its error fails it.
  work(want, handler) {
    check_function('work(want, handler)', 'handler', handler);
    return new Worker(this, want, handler);
  }
}
