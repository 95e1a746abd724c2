// agent - passes a message to its handler and writes the last status line.
//
//     ok ("ack")  ->  the handler: progress, notify, handoffs  ->  complete (exit 0) | error (exit 1)
//
// A handler that throws has failed, as has one that ends the process, that leaves a promise which nothing can
// settle, and code of its own outside it that throws. One that returns without ending the phase has completed
// it; a gate's must give a verdict: by finalize_gate_phase, or by returning { verdict, comment }.

import fs from 'node:fs';
import { begin_session, build_phase_context, finalize_gate_phase } from './context.js';
import { is_object, to_json } from './json.js';
import { parse_message } from './message.js';
import { check_name } from './state_dir.js';

const KEYS = ['phase:standard', 'phase:gate', 'notify', 'test'];
const MESSAGE_BYTES = 64 << 20;
const OWN_FILES = new URL('.', import.meta.url).href;

const passed = { passed: true, message: 'ready' };

// Control characters are shown, not acted on.
function escape_controls(text) {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function say(name, text) {
  try {
    fs.writeSync(2, `${name}: ${escape_controls(text)}\n`);
  } catch {
    // standard error is closed
  }
}

// Why it failed. Node's fetch says only "fetch failed": the reason is its cause.
function reason_of(problem) {
  if (typeof problem?.message !== 'string') return `it threw ${typeof problem === 'object' ? to_json(problem) : String(problem)}`;
  const parts = [problem.message || problem.name || 'an error without a message'];
  for (let cause = problem.cause; cause !== undefined && parts.length < 4; cause = cause?.cause) {
    const part = cause?.errors?.[0]?.message || cause?.message || cause?.code || String(cause);
    if (!parts.some((before) => before.includes(part))) parts.push(part);
  }
  return parts.join(': ');
}

// For the log: where in the agent's own code it happened.
function trace_of(problem) {
  const stack = typeof problem?.stack === 'string' ? problem.stack.split('\n    at ').slice(1) : [];
  const own = stack.filter((at) => !at.includes('node:') && !at.includes(OWN_FILES) && at.includes(':'));
  return [reason_of(problem), ...own].join('\n    at ');
}

async function read_stdin() {
  try {
    return fs.readFileSync(0);
  } catch (problem) {
    if (problem.code === 'EOF') return Buffer.alloc(0);
    if (problem.code !== 'EAGAIN') throw problem;
  }
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  return Buffer.concat(parts);
}

export class CliqAgent {
  #session; // of the message that is handled

  constructor({ name, handlers = {} } = {}) {
    if (typeof name !== 'string') throw new Error('new CliqAgent: it takes { name, handlers }, and name must be a text');
    check_name('name of an agent', name);
    for (const [key, handler] of Object.entries(handlers)) {
      if (!KEYS.includes(key)) throw new Error(`agent ${name}: no handler can be registered for "${key}": the keys are ${KEYS.join(', ')}`);
      if (handler !== undefined && typeof handler !== 'function') throw new Error(`agent ${name}: the handler for ${key} is not a function`);
    }
    this.name = name;
    this.handlers = handlers;
  }

  async #handle(msg, session) {
    const { read, lines } = session;
    const key = read.phase === undefined ? read.type : `phase:${read.phase_type}`;
    const handler = this.handlers[key];
    if (!handler && key !== 'test') throw new Error(`agent ${this.name} has no handler for ${key}`);
    const result = handler ? await handler(msg) : passed;
    if (lines.is_done) return result;
    if (key === 'phase:gate') {
      if (!is_object(result?.verdict)) throw new Error(`gate ${read.phase} ended without a verdict`);
      finalize_gate_phase(session.context ?? build_phase_context(msg, this.name), result, msg);
    } else if (session.context) {
      session.context._end(result);
    } else {
      lines.complete(key === 'test' ? (result ?? passed) : result);
    }
    return result;
  }

  // For tests: handles a message and returns what the handler returned. Rejects with the handler's error,
  // after the error line was written, and for a wrong message, before anything is written.
  async dispatch(msg) {
    return this.#dispatch(msg, undefined);
  }

  async #dispatch(msg, note) {
    const session = begin_session(msg, note);
    this.#session = session;
    try {
      session.lines.ok();
      return await this.#handle(msg, session);
    } catch (problem) {
      this.#fail(reason_of(problem));
      throw problem;
    }
  }

  #fail(reason) {
    try {
      this.#session?.lines.error(reason);
    } catch {
      // the line could not be written: the orchestrator sees a crash
    }
  }

  // In this agent's log, without its secrets.
  #say(text) {
    say(this.name, this.#session?.lines.mask.text(text) ?? text);
  }

  // What ends the process while the handler has not ended is the handler's failure.
  #watch_process() {
    let is_idle = false;
    process.on('uncaughtException', (problem) => {
      this.#say(trace_of(problem));
      this.#fail(reason_of(problem));
      process.exit(1);
    });
    process.once('beforeExit', () => {
      is_idle = true;
      process.exit(1);
    });
    process.on('exit', (code) => {
      if (!this.#session || this.#session.lines.is_done) return;
      const reason = is_idle || code === 13 // an await at the top level
        ? 'the handler awaits something that can never happen: no timer, request or file is left'
        : `the process ended with exit code ${code} before its handler did: the handler must return or throw`;
      this.#say(reason);
      this.#fail(reason);
      process.exitCode = 1;
    });
  }

  // The agent's main program: reads the message from standard input, handles it, exits with 0 or 1.
  async run() {
    let code = 0;
    this.#watch_process();
    try {
      const text = await read_stdin();
      if (text.length > MESSAGE_BYTES) throw new Error(`the message is larger than ${MESSAGE_BYTES} bytes`);
      await this.#dispatch(parse_message(text.toString('utf8')), (note) => this.#say(note));
    } catch (problem) {
      this.#say(this.#session ? trace_of(problem) : reason_of(problem));
      code = 1;
    }
    process.exit(code);
  }
}
