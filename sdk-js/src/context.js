// context - everything that an agent can read and do in a phase.
//
//     const ctx = build_phase_context(msg, 'my-analyst');
//     for (const target of ctx.targets) ctx.send(target, 'Done.');
//     finalize_standard_phase(ctx, msg);            // or finalize_gate_phase(ctx, result, msg)
//
// Handoffs, files and signals are on disk when their call returns, and remain if the agent fails later;
// only the task board is written at the end. The first call that ends the phase counts: later ones do
// nothing. A wrong argument throws, and nothing is written.

import fs from 'node:fs';
import path from 'node:path';
import { TaskBoard, write_board } from './board.js';
import { read_handoff, render_handoff, write_handoff } from './handoff.js';
import { make_input_text, plain } from './input_text.js';
import { is_object, parse_file, to_json } from './json.js';
import { read_message } from './message.js';
import { StateDir, check_name, is_name, is_phase_name, reader_of } from './state_dir.js';
import { StatusFile } from './status_line.js';
import { expand } from './template.js';

const DOC_BYTES = 8 << 20;
const COMMON_CONFIG = ['action', 'sources', 'target_entries', 'commands', 'model', 'review'];
const RESERVED_SIGNALS = ['command_results', 'routed'];

// ---- one message: its status lines, shared by CliqAgent and the contexts made of it ----

const sessions = new WeakMap();

// { read, lines, note, context }: the checked message, its status file, what prints progress notes, the
// context that was made of it last. A message that is handled again begins anew.
export function begin_session(msg, note) {
  const read = read_message(msg);
  const session = { read, lines: new StatusFile(read), note, context: undefined };
  sessions.set(msg, session);
  return session;
}

// ---- reading ----

function read_inputs(state, phase) {
  const envelopes = {};
  for (const channel of state.list('channels')) {
    if (!channel.includes('--') || reader_of(channel) !== phase) continue;
    const envelope = read_handoff(state, channel);
    if (envelope) envelopes[channel] = envelope;
  }
  return envelopes;
}

// A document is UTF-8 text of at most 8 MiB; others are left out: read their file.
function read_doc(state, file) {
  if (!state.is_file(file) || fs.lstatSync(`${state.dir}/${file}`).size > DOC_BYTES) return undefined;
  const bytes = state.read_bytes(file);
  const text = bytes?.toString('utf8');
  return bytes && !text.includes('\0') && Buffer.from(text).equals(bytes) ? text : undefined;
}

function read_docs(state) {
  const docs = state.list('design').map((name) => [name, read_doc(state, `design/${name}`)]);
  return Object.fromEntries(docs.filter(([, text]) => text !== undefined));
}

function read_workflow_inputs(state) {
  const text = state.read('inputs.json');
  if (text === undefined) return undefined;
  const inputs = parse_file(`${state.dir}/inputs.json`, text);
  if (!is_object(inputs)) throw new Error(`${state.dir}/inputs.json:1:1: the inputs must be a JSON object`);
  return inputs;
}

function read_role(state, read, ctx) {
  if (typeof read.payload.role === 'string') return read.payload.role;
  const file = `roles/${read.phase}.md`;
  const envelope_of = (phase) =>
    Object.entries(ctx.input_envelopes).find(([channel]) => channel.slice(0, channel.indexOf('--')) === phase)?.[1];
  try {
    return expand(state.read(file) ?? '', {
      inputs: ctx.workflow_inputs,
      handoff: envelope_of,
      plain: {
        team_name: read.team_name ?? '', phase: read.phase, run_id: read.instance_id ?? '', 'dirs.project': ctx.project_dir,
        'dirs.work': ctx.work_dir, 'dirs.state': state.dir, 'dirs.files': `${state.dir}/files`,
      },
    });
  } catch (problem) {
    throw new Error(`${file}: ${problem.message}`);
  }
}

// The phase's own fields, and those of the protocol that agents of a kind share.
function phase_config_of(payload) {
  if (!is_object(payload.phase_config)) return payload;
  const config = { ...payload.phase_config };
  for (const key of COMMON_CONFIG) if (payload[key] !== undefined) config[key] ??= payload[key];
  return config;
}

function payload_of_send(target, payload) {
  const given = plain(payload);
  const data = given?.data;
  const text = plain(typeof given === 'string' ? given : given?.text);
  if (data !== undefined && data !== null && !is_object(data)) throw new Error("the handoff's data: it must be a JSON object");
  if (text !== undefined && text !== null && typeof text !== 'string') throw new Error("the handoff's text: it must be a text");
  if ((data ?? text ?? undefined) === undefined) throw new Error(`send to ${target}: neither data nor text was given`);
  return { data: data ?? undefined, text: text ?? undefined };
}

// ---- the context ----

export class PhaseContext {
  #state;
  #session;
  #channels; // by target
  #sent = new Set();

  constructor(session, agent) {
    const { read } = session;
    const state = new StateDir(read.state_dir);
    this.#session = session;
    this.#state = state;
    this.#channels = new Map(read.handoff_dirs.map((dir) => [reader_of(path.basename(dir)), dir]));
    this.agent = agent;
    this.phase = read.phase;
    this.phase_type = read.phase_type;
    this.is_support = read.payload.is_support === true;
    this.project_dir = read.project_dir ?? path.dirname(state.dir);
    this.work_dir = read.work_dir ?? this.project_dir;
    this.state_dir = state.dir;
    this.settings = read.settings;
    this.metadata = { instance_id: read.instance_id ?? '', team_name: read.team_name ?? '', req_key: read.req_key ?? '' };
    this.dispatch = { ...read.payload, phase_config: phase_config_of(read.payload) };
    this.targets = [...this.#channels.keys()];
    this.req_spec = state.read('req_spec.md') ?? '';
    this.input_envelopes = read_inputs(state, read.phase);
    this.input_text = make_input_text(
      Object.fromEntries(Object.entries(this.input_envelopes).map(([channel, envelope]) => [channel, render_handoff(envelope)])));
    this.inputs = this.input_text;
    this.design_docs = read_docs(state);
    this.workflow_inputs = read_workflow_inputs(state);
    this.role = read_role(state, read, this);
    this.task_board = new TaskBoard(state.read('task_board.md') ?? '');
    session.context = this;
  }

  #hand_over(channel, { data, text }) {
    const { mask } = this.#session.lines;
    write_handoff(channel, {
      phase_type: this.phase_type, phase: this.phase, agent: this.agent, data: mask.json(data), text: text && mask.text(text),
    });
  }

  // Writes the handoff for a target: a text, or { data, text } of which one may be absent.
  send(target, payload) {
    const handoff = payload_of_send(target, payload);
    const channel = this.#channels.get(target);
    if (!channel) {
      const known = this.targets.length ? `its targets are ${this.targets.join(', ')}` : 'it has no targets';
      throw new Error(`phase ${this.phase} cannot send to "${String(target).slice(0, 100)}": ${known}`);
    }
    this.#hand_over(channel, handoff);
    this.#sent.add(target);
  }

  // Writes files/<phase>/<name>; the name may have directories, but no "..".
  write_file(name, content) {
    const given = plain(content);
    if (typeof given !== 'string' && !ArrayBuffer.isView(given))
      throw new Error(`the content of the file "${String(name).slice(0, 100)}": it must be a text or bytes; JSON.stringify makes a text of an object`);
    this.#state.replace(`files/${this.phase}/${name}`, given);
  }

  // Reports progress to people who watch the run.
  progress(message) {
    this.#session.note?.(String(message));
    this.#session.lines.progress(String(message));
  }

  // Writes signals/<phase>_<name>.json.
  signal(name, payload = {}) {
    check_name('name of a signal', String(name));
    if (RESERVED_SIGNALS.includes(name)) throw new Error(`the name of a signal ${name} is reserved: choose another name`);
    const text = to_json(this.#session.lines.mask.json(payload), 2);
    if (text === undefined) throw new Error(`the payload of the signal ${name}: there is no JSON for it`);
    this.#state.replace(`signals/${this.phase}_${name}.json`, `${text}\n`);
  }

  // Asks the orchestrator to send a notification. channel_ref: "slack:oncall", "email".
  register_notification(event, channel_ref, payload = {}) {
    if (typeof channel_ref !== 'string') throw new Error('the notification has no receiver: write agent or agent:channel');
    const colon = channel_ref.indexOf(':');
    const agent = colon < 0 ? channel_ref : channel_ref.slice(0, colon);
    if (!is_object(payload)) throw new Error("the notification's payload: it must be a JSON object");
    if (!is_name(agent) || colon === channel_ref.length - 1)
      throw new Error(`bad receiver of a notification "${channel_ref.slice(0, 200)}": write agent or agent:channel`);
    if (!event) throw new Error('the notification has no event');
    this.#session.lines.notify({ agent, channel: colon < 0 ? null : channel_ref.slice(colon + 1), event, payload });
  }

  // ---- the end, for the functions below ----

  get _is_done() {
    return this.#session.lines.is_done;
  }
  _end(result) {
    if (this._is_done) return;
    write_board(this.#state, this.task_board);
    this.#session.lines.complete(result);
  }
  // ROUTE: to its target. PASS: to the targets without a handoff that are no route targets.
  _send_verdict(verdict, handoff) {
    if (verdict.outcome === 'ROUTE') this.#hand_over(`${this.state_dir}/channels/${this.phase}--${verdict.target}`, handoff);
    if (verdict.outcome !== 'PASS') return;
    for (const [target, channel] of this.#channels)
      if (!this.#sent.has(target) && !this.route_targets.includes(target)) this.#hand_over(channel, handoff);
  }
}

export class GateContext extends PhaseContext {
  constructor(session, agent) {
    super(session, agent);
    const { check_results, route_targets, iteration, max_iterations } = session.read.payload;
    this.check_results = Array.isArray(check_results) ? check_results : [];
    this.route_targets = Array.isArray(route_targets) ? route_targets : [];
    this.iteration = Number.isInteger(iteration) ? iteration : 1;
    this.max_iterations = Number.isInteger(max_iterations) ? max_iterations : 3;
    this.route_targets.forEach((name, i) => {
      if (typeof name !== 'string' || !is_phase_name(name))
        throw new Error(`the message's payload.route_targets must be names of phases; number ${i + 1} is not`);
    });
  }
}

// A GateContext when the phase is a gate.
export function build_phase_context(msg, name) {
  const session = sessions.get(msg) ?? begin_session(msg);
  if (session.read.type !== 'phase') throw new Error(`build_phase_context: a ${session.read.type} message has no phase`);
  const is_gate = session.read.phase_type === 'gate';
  return new (is_gate ? GateContext : PhaseContext)(session, name ?? session.read.agent);
}

// ---- the end of a phase ----

// Ends a standard phase: writes the board, then the complete line.
export function finalize_standard_phase(ctx, _msg) {
  if (ctx instanceof GateContext) throw new Error(`phase ${ctx.phase} is a gate: it ends with a verdict`);
  ctx._end(undefined);
}

function check_verdict(ctx, result) {
  if (!(ctx instanceof GateContext)) throw new Error(`phase ${ctx.phase} is not a gate: it gives no verdict`);
  const { outcome, target } = result?.verdict ?? {};
  if (!['PASS', 'ROUTE', 'ESCALATE'].includes(outcome))
    throw new Error(`bad outcome "${String(outcome ?? '').slice(0, 100)}" of gate ${ctx.phase}: it must be PASS, ROUTE or ESCALATE`);
  if (typeof result.comment !== 'string') throw new Error(`the verdict of gate ${ctx.phase} has no comment`);
  if (outcome !== 'ROUTE') return { outcome };
  if (!ctx.route_targets.includes(target)) {
    const known = ctx.route_targets.length ? `its route targets are ${ctx.route_targets.join(', ')}` : 'it has no route targets';
    throw new Error(`gate ${ctx.phase} cannot route to "${String(target ?? '').slice(0, 100)}": ${known}`);
  }
  return { outcome, target };
}

// Ends a gate: writes the verdict's handoff, the board, the complete line.
export function finalize_gate_phase(ctx, result, _msg) {
  const { outcome, target } = check_verdict(ctx, result);
  if (ctx._is_done) return;
  const { comment, reviewer, decided_at } = result;
  const verdict = { outcome, target, reason: comment };
  const checks = ctx.check_results.map(({ name, pass }) => ({ name, pass }));
  ctx._send_verdict(verdict, {
    data: { verdict, checks, iteration: ctx.iteration, max_iterations: ctx.max_iterations, reviewer, decided_at },
    text: `${outcome}${target ? ` to ${target}` : ''}${comment && `: ${comment}`}`,
  });
  ctx._end({ verdict, reviewer, decided_at });
}
