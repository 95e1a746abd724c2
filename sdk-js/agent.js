// agent - passes a message to its handler and writes the last status line.
//
//     ok ("ack")  ->  the handler: progress, notify, handoffs  ->  complete (exit 0) | error (exit 1)
//
// A handler that throws has failed. One that returns without ending the phase has completed it; a gate's
// must give a verdict: by finalize_gate_phase, or by returning { verdict, comment }.

import fs from 'node:fs';
import { begin_session, build_phase_context, finalize_gate_phase } from './context.js';
import { is_object } from './json.js';
import { parse_message } from './message.js';
import { check_name } from './state_dir.js';

const KEYS = ['phase:standard', 'phase:gate', 'notify', 'test'];
const MESSAGE_BYTES = 64 << 20;

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
  constructor({ name, handlers = {} }) {
    check_name('name of an agent', String(name));
    for (const key of Object.keys(handlers))
      if (!KEYS.includes(key)) throw new Error(`agent ${name}: no handler can be registered for "${key}": the keys are ${KEYS.join(', ')}`);
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
    try {
      session.lines.ok();
      return await this.#handle(msg, session);
    } catch (problem) {
      try {
        session.lines.error(problem instanceof Error ? problem.message : String(problem));
      } catch {
        // the line could not be written: the orchestrator sees a crash
      }
      throw problem;
    }
  }

  // The agent's main program: reads the message from standard input, handles it, exits with 0 or 1.
  async run() {
    let code = 0;
    try {
      const text = await read_stdin();
      if (text.length > MESSAGE_BYTES) throw new Error(`the message is larger than ${MESSAGE_BYTES} bytes`);
      await this.#dispatch(parse_message(text.toString('utf8')), (note) => say(this.name, note));
    } catch (problem) {
      say(this.name, problem instanceof Error ? problem.message : String(problem));
      code = 1;
    }
    process.exit(code);
  }
}
