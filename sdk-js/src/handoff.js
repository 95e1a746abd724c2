// handoff - the envelope that one phase leaves for another: channels/<from>--<to>/handoff.json.
//
//     { version: 1, phase_type: 'standard', phase: 'analyzer', agent: 'cursor', data: {…}, text: '…' }

import { is_object, parse_file, to_json } from './json.js';
import { replace_in_channel } from './state_dir.js';

// Writes handoff.json into the channel, an absolute path. An envelope's members are in the order above.
export function write_handoff(channel, { phase_type, phase, agent, data, text }) {
  replace_in_channel(channel, 'handoff.json', to_json({ version: 1, phase_type, phase, agent, data, text }, 2) + '\n');
}

function fault_of(v) {
  const is_text = (key) => v[key] === undefined || v[key] === null || typeof v[key] === 'string';
  if (!is_object(v)) return 'an envelope is a JSON object';
  if (v.version !== undefined && v.version !== 1) return 'version must be 1';
  for (const key of ['phase_type', 'phase', 'agent', 'text'])
    if (!is_text(key)) return `${key} must be text`;
  return undefined;
}

// The envelope of a channel ("architect--developer") to this phase; undefined: it holds no handoff.
export function read_handoff(state, channel) {
  const text = state.read(`channels/${channel}/handoff.json`);
  if (text === undefined) return undefined;
  const path = `${state.dir}/channels/${channel}/handoff.json`;
  const v = parse_file(path, text);
  const fault = fault_of(v);
  if (fault) throw new Error(`${path}:1:1: not a handoff: ${fault}`);
  const envelope = {
    version: 1, phase_type: v.phase_type ?? 'standard', phase: v.phase ?? channel.slice(0, channel.indexOf('--')), agent: v.agent ?? '',
  };
  if (v.data !== undefined && v.data !== null) envelope.data = v.data;
  if (v.text !== undefined && v.text !== null) envelope.text = v.text;
  return envelope;
}

// For a prompt: first data as JSON, then text.
export function render_handoff({ data, text }) {
  const shown = data === undefined ? '' : `\`\`\`json\n${to_json(data, 2)}\n\`\`\`\n`;
  if (!text) return shown;
  return `${shown}${shown && '\n'}${text}${text.endsWith('\n') ? '' : '\n'}`;
}
