// llm.mjs - a scripted model on 127.0.0.1, for tests of programs and agents that ask one.
//
//     node llm.mjs DIR      writes its port to DIR/port when it listens; ends with SIGTERM
//
// It answers Anthropic's /v1/messages, OpenAI's /responses and /chat/completions, Gemini's
// :generateContent and :streamGenerateContent, and Ollama's /api/chat, streamed when asked to.
// DIR/script.json says what; it is read again for each request, so a test may change it:
//
//     [{"when": "the \"review\" phase", "turns": [{"text": "hm"}, {"text": "ok"}]}, {"turns": […]}]
//
// The first rule whose `when` the request's text contains (a rule without one: always) gives its
// next turn; its last one again when all were given. A turn is one of
//
//     {"text": T}                            says T
//     {"write": PATH, "content": T}          writes a file with the program's own tool; PATH is absolute
//     {"run": COMMAND}                       runs a command with the program's own tool
//     {"tool": NAME, "args": {…}}            calls the tool whose name ends with NAME
//     {"status": N, "retry_after": SECONDS}  an error; with "body" that answer as it is
//     {"cut": true}                          begins to answer, then drops the connection
//     {"silence": true}                      never answers
//     {"huge": BYTES}                        says very much
//     {"raw": T}                             the body of the answer, as it is
//
// and each may have "usage": {"input": N, "output": N, "thoughts": N (Gemini)}. A key that contains "bad" gets 401. What a
// program asks beside its work (titles, routing: no tools are offered) is answered with "ok" and
// takes no turn.
//
// DIR/requests.jsonl has a line for each request: method, path, headers, body, and rule and turn.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const dir = process.argv[2] ?? '.';
const given = new Map(); // rule as text -> turns given
let calls = 0;

const nextTurn = (text) => {
  const rules = JSON.parse(fs.readFileSync(path.join(dir, 'script.json'), 'utf8'));
  const n = rules.findIndex((r) => !r.when || text.includes(JSON.stringify(r.when).slice(1, -1)));
  if (n < 0) return { rule: -1, turn: 0, say: { text: 'no rule of the script applies' } };
  const id = JSON.stringify(rules[n]);
  const turn = given.get(id) ?? 0;
  given.set(id, turn + 1);
  return { rule: n, turn, say: rules[n].turns[Math.min(turn, rules[n].turns.length - 1)] };
};

// ---- what a program can do ---------------------------------------------------

// [{name, namespace?}] of any API.
const toolsOf = (body) =>
  (Array.isArray(body.tools) ? body.tools : []).flatMap((t) =>
    t.functionDeclarations ? t.functionDeclarations.map((f) => ({ name: f.name }))
    : t.type === 'namespace' ? t.tools.map((k) => ({ name: k.name, namespace: t.name }))
    : t.function ? [{ name: t.function.name }]
    : t.name ? [{ name: t.name, custom: t.type === 'custom' }] : []);

const quoted = (s) => `'${s.replaceAll("'", "'\\''")}'`;
const shellWrite = (t) => `mkdir -p ${quoted(path.dirname(t.write))} && printf %s ${quoted(t.content)} > ${quoted(t.write)}`;

// By the names of their tools: claude, gemini, opencode; codex has shells under several names.
const writers = {
  Write: (t) => ({ file_path: t.write, content: t.content }),
  write_file: (t) => ({ file_path: t.write, content: t.content }),
  write: (t) => ({ filePath: t.write, content: t.content }),
  exec_command: (t) => ({ cmd: shellWrite(t) }),
  shell_command: (t) => ({ command: shellWrite(t) }),
  shell: (t) => ({ command: ['bash', '-c', shellWrite(t)] }),
};
const runners = {
  Bash: (t) => ({ command: t.run, description: 'runs a command' }),
  run_shell_command: (t) => ({ command: t.run, description: 'runs a command' }),
  bash: (t) => ({ command: t.run, description: 'runs a command' }),
  exec_command: (t) => ({ cmd: t.run }),
  shell_command: (t) => ({ command: t.run }),
  shell: (t) => ({ command: ['bash', '-c', t.run] }),
};

// The tool call of a turn: {name, namespace?, args}; nothing for words.
const callOf = (say, tools) => {
  const known = say.write !== undefined ? writers : say.run !== undefined ? runners : null;
  if (known) {
    const tool = Object.keys(known).flatMap((n) => tools.filter((t) => t.name === n))[0];
    return tool ? { ...tool, args: known[tool.name](say) } : { name: 'no_such_tool', args: {} };
  }
  if (!say.tool) return null;
  const tool = tools.find((t) => t.name.endsWith(say.tool)) ?? { name: say.tool };
  return { ...tool, args: say.args ?? {} };
};

// ---- how each API says it ----------------------------------------------------

const event = (name, data) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const events = (list) => list.map(([name, data]) => event(name, data)).join('');

const anthropic = (body, a) => {
  const id = `msg_${++calls}`;
  const block = a.call ? { type: 'tool_use', id: `toolu_${calls}`, name: a.call.name, input: a.call.args } : { type: 'text', text: a.text };
  const stop_reason = a.call ? 'tool_use' : 'end_turn';
  const message = { id, type: 'message', role: 'assistant', model: body.model, content: [block], stop_reason, stop_sequence: null,
    usage: { input_tokens: a.usage.input, output_tokens: a.usage.output } };
  if (!body.stream) return { json: message };
  const delta = a.call ? { type: 'input_json_delta', partial_json: JSON.stringify(a.call.args) } : { type: 'text_delta', text: a.text };
  return { sse: events([
    ['message_start', { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: { input_tokens: a.usage.input, output_tokens: 1 } } }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: a.call ? { ...block, input: {} } : { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: a.usage.output } }],
    ['message_stop', { type: 'message_stop' }]]) };
};

const responses = (body, a) => {
  const n = ++calls;
  const item = !a.call ? { type: 'message', id: `m_${n}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: a.text, annotations: [] }] }
    : a.call.custom ? { type: 'custom_tool_call', id: `ct_${n}`, call_id: `call_${n}`, name: a.call.name, input: String(a.call.args), status: 'completed' }
    : { type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, name: a.call.name, ...(a.call.namespace && { namespace: a.call.namespace }),
      arguments: JSON.stringify(a.call.args), status: 'completed' };
  const response = { id: `resp_${n}`, object: 'response', created_at: 0, status: 'completed', model: body.model, output: [item],
    usage: { input_tokens: a.usage.input, input_tokens_details: { cached_tokens: 0 }, output_tokens: a.usage.output,
      output_tokens_details: { reasoning_tokens: 0 }, total_tokens: a.usage.input + a.usage.output } };
  if (!body.stream) return { json: response };
  return { sse: events([
    ['response.created', { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response }]]) };
};

const gemini = (body, a, url) => {
  const part = a.call ? { functionCall: { id: `c${++calls}`, name: a.call.name, args: a.call.args } } : { text: a.text };
  const json = { candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }],
    usageMetadata: { promptTokenCount: a.usage.input, candidatesTokenCount: a.usage.output, thoughtsTokenCount: a.usage.thoughts,
      totalTokenCount: a.usage.input + a.usage.output + a.usage.thoughts },
    modelVersion: /models\/([^:]+):/.exec(url)?.[1] ?? 'scripted' };
  return url.includes(':stream') ? { sse: event(null, json) } : { json };
};

const completions = (body, a) => {
  const all = { id: `c${++calls}`, created: 0, model: body.model };
  const message = a.call
    ? { role: 'assistant', content: null, tool_calls: [{ index: 0, id: `call_${calls}`, type: 'function', function: { name: a.call.name, arguments: JSON.stringify(a.call.args) } }] }
    : { role: 'assistant', content: a.text };
  const finish_reason = a.call ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: a.usage.input, completion_tokens: a.usage.output, total_tokens: a.usage.input + a.usage.output };
  if (!body.stream) return { json: { ...all, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage } };
  const chunk = (choices, more) => event(null, { ...all, object: 'chat.completion.chunk', choices, ...more });
  return { sse: chunk([{ index: 0, delta: message, finish_reason: null }]) + chunk([{ index: 0, delta: {}, finish_reason }], { usage }) + 'data: [DONE]\n\n' };
};

const ollama = (body, a) => {
  const message = a.call ? { role: 'assistant', content: '', tool_calls: [{ function: { name: a.call.name, arguments: a.call.args } }] }
    : { role: 'assistant', content: a.text };
  const end = { model: body.model, done: true, done_reason: 'stop', prompt_eval_count: a.usage.input, eval_count: a.usage.output };
  if (body.stream === false) return { json: { ...end, message } };
  return { ndjson: [{ model: body.model, message, done: false }, { ...end, message: { role: 'assistant', content: '' } }].map((l) => `${JSON.stringify(l)}\n`).join('') };
};

const apis = [
  [/\/v1\/messages$/, anthropic],
  [/\/responses$/, responses],
  [/:(stream)?generateContent$/i, gemini],
  [/\/chat\/completions$/, completions],
  [/\/api\/chat$/, ollama],
];

const errorOf = (api, status, message, retryAfter) => {
  const words = { 400: 'invalid_request_error', 401: 'authentication_error', 404: 'not_found_error', 429: 'rate_limit_error' };
  const type = words[status] ?? 'api_error';
  if (api === anthropic) return { type: 'error', error: { type, message } };
  if (api === gemini) return { error: { code: status, message, status: { 401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED' }[status] ?? 'INTERNAL',
    ...(retryAfter !== undefined && { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` }] }) } };
  if (api === ollama) return { error: message };
  return { error: { message, type, param: null, code: status === 401 ? 'invalid_api_key' : status === 429 ? 'rate_limit_exceeded' : null } };
};

// ---- the server --------------------------------------------------------------

const type = { json: 'application/json', sse: 'text/event-stream', ndjson: 'application/x-ndjson' };
const send = (res, status, body, headers = {}) => {
  res.writeHead(status, { 'content-type': type.json, ...headers });
  res.end(JSON.stringify(body));
};
const log = (line) => fs.appendFileSync(path.join(dir, 'requests.jsonl'), `${JSON.stringify(line)}\n`);

const answer = (req, res, text) => {
  const url = req.url.split('?')[0];
  const api = apis.find(([like]) => like.test(url))?.[1];
  let body = {};
  try { body = JSON.parse(text || '{}'); } catch { /* logged as it is */ }
  const key = req.headers['x-api-key'] ?? req.headers['x-goog-api-key'] ?? req.headers.authorization ?? '';
  const line = { method: req.method, path: req.url, headers: req.headers, body };
  const fail = (status, message, after) => (log({ ...line, status }),
    send(res, status, errorOf(api, status, message, after), after !== undefined ? { 'retry-after': String(after) } : {}));

  if (!api && req.method === 'GET' && /\/(models|tags|version)$/.test(url) && !key.includes('bad')) {
    log({ ...line, status: 200 });
    return send(res, 200, { object: 'list', data: [], models: [], version: '0.0.0' });
  }
  if (key.includes('bad')) return fail(401, 'the API key is not valid');
  if (!api) return fail(404, `no route ${url}`);
  const tools = toolsOf(body);
  const isAside = !tools.length && /claude|codex|gemini|opencode|ai-sdk/i.test(req.headers['user-agent'] ?? '');
  const { rule, turn, say } = isAside ? { rule: -1, turn: 0, say: { text: 'ok' } } : nextTurn(text);
  if (say.status) {
    log({ ...line, rule, turn });
    if (say.body) return send(res, say.status, say.body);
    return fail(say.status, say.message ?? `the script says ${say.status}`, say.retry_after);
  }
  log({ ...line, rule, turn });
  if (say.silence) return undefined;
  if (say.raw !== undefined) return res.writeHead(200, { 'content-type': say.type ?? type.json }).end(say.raw);
  const out = api(body, {
    call: callOf(say, tools),
    text: say.huge ? 'many words '.repeat(Math.ceil(say.huge / 11)) : say.text ?? '',
    usage: { input: say.usage?.input ?? 10, output: say.usage?.output ?? 5, thoughts: say.usage?.thoughts ?? 0 },
  }, url);
  const kind = Object.keys(out)[0];
  const payload = kind === 'json' ? JSON.stringify(out.json) : out[kind];
  res.writeHead(200, { 'content-type': type[kind] });
  if (!say.cut) return res.end(payload);
  return res.write(payload.slice(0, Math.floor(payload.length / 2)), () => setTimeout(() => res.destroy(), 20));
};

const server = http.createServer((req, res) => {
  const parts = [];
  req.on('data', (p) => parts.push(p));
  req.on('end', () => {
    try {
      answer(req, res, Buffer.concat(parts).toString('utf8'));
    } catch (e) {
      send(res, 500, { error: { message: `the script is wrong: ${e.message}` } });
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const at = path.join(dir, 'port');
  fs.writeFileSync(`${at}.new`, String(server.address().port));
  fs.renameSync(`${at}.new`, at);
});
process.on('SIGTERM', () => process.exit(0));
