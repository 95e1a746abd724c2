// acp_sdk.mjs - a small agent made with the protocol's own SDK: it refuses a client's message that
// its schema does not know. In a turn it asks permission for an edit, writes the file through the
// client, counts its bytes with a command of the client, and says what came of it; told to cancel,
// it ends the turn.
//
//     CLIENTS=…/node_modules node acp_sdk.mjs FILE CONTENT
import { Readable, Writable } from 'node:stream';

const acp = await import(`${process.env.CLIENTS}/@agentclientprotocol/sdk/dist/v1/stable/acp.js`);
const [file, content] = process.argv.slice(2);
const { agent: to, client: from } = acp.methods;
let cancelled = false;

const count = async (client, sessionId, update) => {
  const { terminalId } = await client.request(from.terminal.create, {
    sessionId, command: 'wc', args: ['-c', file], env: [{ name: 'LC_ALL', value: 'C' }], outputByteLimit: 1000,
  });
  const terminal = { sessionId, terminalId };
  await update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', content: [{ type: 'terminal', terminalId }] });
  const end = await client.request(from.terminal.waitForExit, terminal);
  const { output, truncated, exitStatus } = await client.request(from.terminal.output, terminal);
  await client.request(from.terminal.kill, terminal);
  await update({ sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: `wc: ${output.trim()}, ${truncated}, ${end.exitCode} ${exitStatus.exitCode}. ` } });
  return terminal;
};

const turn = async ({ params, client }) => {
  const { sessionId } = params;
  const update = (u) => client.notify(from.session.update, { sessionId, update: u });
  await update({ sessionUpdate: 'plan', entries: [{ content: 'write', priority: 'high', status: 'in_progress' }] });
  const toolCall = { toolCallId: 't1', title: `Write ${file}`, kind: 'edit', status: 'pending', locations: [{ path: file }] };
  await update({ sessionUpdate: 'tool_call', ...toolCall });
  const { outcome } = await client.request(from.session.requestPermission, {
    sessionId, toolCall,
    options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }],
  });
  if (cancelled || outcome.outcome === 'cancelled') return { stopReason: 'cancelled' };
  if (outcome.optionId === 'yes') await client.request(from.fs.writeTextFile, { sessionId, path: file, content });
  if (outcome.optionId === 'yes') await client.request(from.terminal.release, await count(client, sessionId, update));
  await update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed' });
  await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `The answer was ${outcome.optionId}.` } });
  return { stopReason: 'end_turn' };
};

acp.agent({ name: 'sdk' })
  .onRequest(to.initialize, () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {}, agentInfo: { name: 'sdk', version: '1' } }))
  .onRequest(to.session.new, () => ({ sessionId: 's1' }))
  .onRequest(to.session.prompt, turn)
  .onNotification(to.session.cancel, () => { cancelled = true; })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
