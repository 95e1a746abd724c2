// message - the AgentMessage: the JSON object that an agent reads on standard input.
//
// read_message checks it; it says which member is wrong, before anything is written. What it returns is
// the message with its defaults:
//     state_dir   payload.state_dir, else the parent of the nearest `signals` directory at or above
//                 signal_dir, else project_dir/.cliq
//     work_dir    project_dir when it is absent

import { is_object } from './json.js';
import { check_name, is_phase_name } from './state_dir.js';

function text_of(object, prefix, key, is_path) {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Error(`the message's ${prefix}${key} must be text`);
  if (value.includes('\0')) throw new Error(`the message's ${prefix}${key} holds a NUL byte`);
  if (is_path && !value.startsWith('/'))
    throw new Error(`the message's ${prefix}${key} must be an absolute path, not "${value.slice(0, 200)}"`);
  return value;
}

function container_of(msg, key, is_list) {
  const value = msg[key] ?? (is_list ? [] : {});
  if (is_list ? !Array.isArray(value) : !is_object(value))
    throw new Error(`the message's ${key} must be ${is_list ? 'a list' : 'an object'}`);
  return value;
}

function check_head(msg, read) {
  if (msg.version === undefined) throw new Error('the message has no version; this cliq supports version 1');
  if (msg.version !== 1) throw new Error("the message's version is not 1, the only one that this cliq supports");
  if (read.type === undefined) throw new Error('the message has no type: phase, notify or test');
  if (!['phase', 'notify', 'test'].includes(read.type))
    throw new Error(`the message's type "${read.type.slice(0, 200)}" is not known: it must be phase, notify or test`);
  if (read.agent === undefined) throw new Error('the message has no agent');
  if (read.signal_dir === undefined)
    throw new Error("the message has no signal_dir, the directory of the agent's status lines");
  check_name('agent name in the message', read.agent);
}

function handoff_dirs_of(msg) {
  return container_of(msg, 'handoff_dirs', true).map((dir, i) => {
    if (typeof dir !== 'string' || dir.includes('\0') || !dir.startsWith('/'))
      throw new Error(`the message's handoff_dirs must be absolute paths; number ${i + 1} is not`);
    return dir.replace(/(?<=.)\/+$/, '');
  });
}

function state_dir_of(read) {
  const given = text_of(read.payload, 'payload.', 'state_dir', true);
  if (given) return given;
  const above = /^(\/.*?)\/+signals(?:\/.*)?$/.exec(read.signal_dir);
  if (above) {
    const parts = read.signal_dir.split('/');
    while (parts.at(-1) !== 'signals') parts.pop();
    return parts.slice(0, -1).join('/').replace(/\/+$/, '');
  }
  return read.project_dir && `${read.project_dir}/.cliq`;
}

function check_phase(read) {
  for (const key of ['phase', 'phase_type', 'attempt_id']) read[key] = text_of(read.payload, 'payload.', key);
  if (read.phase === undefined) throw new Error('the message has no payload.phase, the phase to run');
  if (!is_phase_name(read.phase))
    throw new Error(`the message's payload.phase "${read.phase.slice(0, 200)}" is not a name of a phase: use a-z 0-9 -, begin with a letter, no --`);
  read.phase_type ??= 'standard';
  if (!['standard', 'gate', 'team'].includes(read.phase_type))
    throw new Error(`the message's payload.phase_type "${read.phase_type.slice(0, 200)}" is not known: it must be standard, gate or team`);
  if (!read.state_dir)
    throw new Error('the message does not say where the pipeline keeps its files: set payload.state_dir or project_dir');
}

export function read_message(msg) {
  if (!is_object(msg)) throw new Error('the message must be a JSON object');
  const read = {};
  for (const key of ['type', 'agent', 'instance_id', 'team_name', 'req_key']) read[key] = text_of(msg, '', key);
  for (const key of ['project_dir', 'work_dir', 'signal_dir']) read[key] = text_of(msg, '', key, true);
  check_head(msg, read);
  container_of(msg, 'input_artifacts', true);
  read.settings = container_of(msg, 'settings');
  read.payload = container_of(msg, 'payload');
  read.handoff_dirs = handoff_dirs_of(msg);
  read.state_dir = state_dir_of(read);
  if (read.type === 'phase') check_phase(read);
  read.work_dir ??= read.project_dir;
  return read;
}

// The message in the text that an agent read on standard input.
export function parse_message(text) {
  if (/^[ \t\r\n]*$/.test(text))
    throw new Error('there is no message: an agent reads its AgentMessage from standard input');
  try {
    return JSON.parse(text);
  } catch (problem) {
    throw new Error(`the message is not JSON: ${problem.message}`);
  }
}

// An AgentMessage for agent.dispatch, in tests. agent and project_dir are required; phase, phase_type and
// targets (names of phases) become members of the payload and handoff_dirs. It is checked as an agent
// checks it.
export function make_message({ phase, phase_type, targets = [], payload, ...given }) {
  for (const key of ['agent', 'project_dir'])
    if (typeof given[key] !== 'string') throw new Error(`make_message: ${key} must be set`);
  const state_dir = `${given.project_dir}/.cliq`;
  const type = given.type ?? 'phase';
  const msg = {
    version: 1, type, instance_id: 'test-1', team_name: '', req_key: '', work_dir: given.project_dir,
    signal_dir: `${state_dir}/signals`, handoff_dirs: targets.map((to) => `${state_dir}/channels/${phase}--${to}`),
    input_artifacts: [], settings: {}, ...given,
    payload: { ...(type === 'phase' && { phase_type: phase_type ?? 'standard', phase }), ...payload },
  };
  read_message(msg);
  return msg;
}
