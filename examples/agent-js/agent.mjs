// An agent in JavaScript, without an SDK, only the protocol. It forwards its incoming handoffs.
// To try it, create .cliq/ and message.json as cliq-sdk(3) shows: node agent.mjs < message.json
import fs from 'node:fs';
import path from 'node:path';

const message = JSON.parse(fs.readFileSync(0, 'utf8'));
if (message.version !== 1 || message.type !== 'phase') {
  console.error('agent.mjs: this is not the message of a phase');
  process.exit(1);
}
const { phase, phase_type = 'standard', state_dir, check_results = [], route_targets = [] } = message.payload;
const channels = path.join(state_dir ?? path.join(message.project_dir, '.cliq'), 'channels');

// One write of a whole line in append mode: Node has no flock, and this needs none.
function say(status, more = {}) {
  const line = { ts: new Date().toISOString(), version: 1, type: message.type, status, ...more };
  fs.appendFileSync(path.join(message.signal_dir, `${phase}.jsonl`), JSON.stringify(line) + '\n');
}

// rename: readers see the old handoff or the new one, whole.
function hand_over(channel, text, data) {
  const envelope = { version: 1, phase_type, phase, agent: message.agent, data, text };
  const temporary = path.join(channel, `.handoff-${process.pid}`);
  fs.mkdirSync(channel, { recursive: true });
  fs.writeFileSync(temporary, JSON.stringify(envelope, null, 2), { flush: true });
  fs.renameSync(temporary, path.join(channel, 'handoff.json'));
}

function standard() {
  const inputs = {};
  for (const channel of fs.existsSync(channels) ? fs.readdirSync(channels).sort() : []) {
    const file = path.join(channels, channel, 'handoff.json');
    if (channel.endsWith(`--${phase}`) && fs.existsSync(file))
      inputs[channel] = JSON.parse(fs.readFileSync(file, 'utf8'));
  }
  const texts = Object.values(inputs).map((envelope) => envelope.text).filter(Boolean);
  say('progress', { message: `read ${Object.keys(inputs).length} handoff(s)` });
  for (const channel of message.handoff_dirs ?? [])
    hand_over(channel, texts.join('\n\n') || 'There was nothing to read.', { from: Object.keys(inputs) });
}

function gate() {
  const failed = check_results.filter((check) => !check.pass).map((check) => check.name);
  const verdict = failed.length
    ? { outcome: 'ROUTE', target: route_targets[0], reason: `Checks failed: ${failed.join(', ')}` }
    : { outcome: 'PASS', reason: 'All checks pass.' };
  if (failed.length && !verdict.target) throw new Error('there is no phase to route to');
  const is_onward = (dir) => !route_targets.includes(path.basename(dir).split('--').slice(1).join('--'));
  const to = failed.length
    ? [path.join(channels, `${phase}--${verdict.target}`)]
    : (message.handoff_dirs ?? []).filter(is_onward);
  for (const channel of to) hand_over(channel, verdict.reason, { verdict });
  return { verdict };
}

say('ok');
try {
  const result = phase_type === 'gate' ? gate() : standard();
  say('complete', result ? { result } : {});
} catch (problem) {
  say('error', { error: problem.message });
  console.error(`agent.mjs: ${problem.message}`);
  process.exitCode = 1;
}
