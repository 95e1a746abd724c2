// template - $(inputs.x), $(handoff.<phase>.<path>), $(phase) … in the text of a role.
//
// The orchestrator has replaced them in payload.role. They are replaced here when the role is read from
// roles/<phase>.md, as in a test of an agent. cliq-templates(7) describes them.

import { is_object, to_json } from './json.js';

const PLAIN = ['team_name', 'phase', 'date', 'timestamp', 'run_id', 'dirs.project', 'dirs.work', 'dirs.state', 'dirs.files'];
// A use of a variable; the second group is what else begins like one.
const USE = /\$\(((?:inputs|handoff|dirs)\.[^\x00-\x20\x7f()$`'"\\;|&<>{}]+|team_name|phase|date|timestamp|run_id)\)|\$\(((?:inputs|handoff|dirs)\.[^)\n]*)\)?/g;

const as_text = (value) => (typeof value === 'string' ? value : to_json(value));

function unresolved(name, why) {
  return new Error(`cannot resolve $(${name.slice(0, 200)}): ${why}`);
}

// The value at a dotted path: "files[0].name". File names are keys, too ("report.json.size"), so at each
// object the longest key is tried first.
export function find_value(value, path) {
  if (path === '') return value;
  if (Array.isArray(value)) {
    const part = /^\[(\d+)\](?:\.(?=.)|(?=\[)|$)/.exec(path);
    return part && Number(part[1]) < value.length ? find_value(value[Number(part[1])], path.slice(part[0].length)) : undefined;
  }
  if (!is_object(value)) return undefined;
  const keys = Object.keys(value).filter((key) => key && path.startsWith(key)).sort((a, b) => b.length - a.length);
  for (const key of keys) {
    const rest = path.slice(key.length);
    if (rest && !/^(?:\.(?=.)|\[)/.test(rest)) continue;
    const found = find_value(value[key], rest.startsWith('.') ? rest.slice(1) : rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

function find_in_envelope(envelope, path) {
  let found = path === 'text' || path === 'data' ? envelope[path] : undefined;
  if (found === undefined) found = find_value(envelope.data, path);
  if (found === undefined && /^data[.[]/.test(path)) found = find_value(envelope.data, path.slice(path[4] === '.' ? 5 : 4));
  return found;
}

function handoff_value(name, scope) {
  const parts = /^([^.]+)\.(.+)$/s.exec(name.slice('handoff.'.length));
  if (!parts) throw unresolved(name, 'write $(handoff.PHASE.PATH)');
  const envelope = scope.handoff(parts[1]);
  if (!envelope) throw unresolved(name, `phase ${parts[1]} left no handoff here`);
  const value = find_in_envelope(envelope, parts[2]);
  if (value === undefined) throw unresolved(name, `the handoff of phase ${parts[1]} has no such value`);
  return as_text(value);
}

function value_of(name, scope) {
  if (name.startsWith('inputs.')) {
    const key = name.slice('inputs.'.length);
    if (!scope.inputs || !Object.hasOwn(scope.inputs, key))
      throw unresolved(name, 'there is no such input; give it with cliq req --input');
    return as_text(scope.inputs[key]);
  }
  if (name.startsWith('handoff.')) return handoff_value(name, scope);
  if (!PLAIN.includes(name)) throw unresolved(name, 'known ones are dirs.project, dirs.work, dirs.state and dirs.files');
  const now = new Date().toISOString();
  return { date: now.slice(0, 10), timestamp: now, ...scope.plain }[name];
}

// scope: { inputs, handoff(phase), plain: { team_name, phase, run_id, 'dirs.project', … } }
export function expand(text, scope) {
  return text.replace(USE, (use, name, bad) => {
    if (bad !== undefined)
      throw new Error(`$(${bad.slice(0, 200)} is not a template variable: write $(inputs.NAME), $(handoff.PHASE.PATH) or $(dirs.NAME), or "$( " for the shell's own`);
    return value_of(name, scope);
  });
}
