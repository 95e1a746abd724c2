// mcp_sdk.mjs - the protocol's own client library (@modelcontextprotocol/client) at cliq's MCP server, which it checks
// message by message against its schemas.
//
//     CLIENTS=…/node_modules node mcp_sdk.mjs MODE CLIQ          over standard input and output
//     CLIENTS=…/node_modules node mcp_sdk.mjs MODE URL KEY       over HTTP
//     CLIENTS=…/node_modules node mcp_sdk.mjs proxy URL KEY      a port, whose requests reach URL with the key
//
// MODE is legacy, modern or auto. It prints what it found as one JSON object.
import http from 'node:http';

const [mode, at, key] = process.argv.slice(2);

const proxy = () => http.createServer((q, r) => {
  const to = new URL(at), there = (s) => s.replace(/:\d+$/, `:${to.port}`);
  const up = http.request({ host: to.hostname, port: to.port, path: q.url, method: q.method,
    headers: { ...q.headers, authorization: `Bearer ${key}`, host: there(q.headers.host ?? ''),
      ...(q.headers.origin && { origin: there(q.headers.origin) }) } },
  (a) => { r.writeHead(a.statusCode, a.headers); a.pipe(r); });
  q.pipe(up);
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });

const run = async () => {
  const sdk = `${process.env.CLIENTS}/@modelcontextprotocol/client/dist`;
  const { Client, StreamableHTTPClientTransport } = await import(`${sdk}/index.mjs`);
  const { StdioClientTransport } = await import(`${sdk}/stdio.mjs`);
  const client = new Client({ name: 'sdk', version: '1' }, { versionNegotiation: { mode } });
  const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => /^(CLIQ_|HOME$|PATH$)/.test(k)));
  await client.connect(key
    ? new StreamableHTTPClientTransport(new URL(at), { requestInit: { headers: { Authorization: `Bearer ${key}` } } })
    : new StdioClientTransport({ command: at, args: ['mcp', '--as', 'sdk'], env }));
  const { tools } = await client.listTools();
  const call = async (name, args) => JSON.parse((await client.callTool({ name, arguments: args })).content[0].text);
  const sent = await call('emit', { signal_type: 'task', content: `by ${mode}`, to_identity: 'sdk' });
  const box = await call('inbox', { target: '@sdk' });
  const bad = await client.callTool({ name: 'emit', arguments: { urgency: 2 } });
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { contents } = await client.readResource({ uri: resources[0].uri });
  const { prompts } = await client.listPrompts();
  const { messages } = await client.getPrompt({ name: 'inbox', arguments: {} });
  // A change of the inbox is told: by one request for all resources, or one each, as the era has it.
  const told = new Promise((yes) => client.setNotificationHandler('notifications/resources/updated', (n) => yes(n.params.uri)));
  const isModern = (client.getNegotiatedProtocolVersion?.() ?? '') >= '2026';
  const canTell = client.getServerCapabilities()?.resources?.subscribe === true;
  const { uri } = resources[0];
  if (canTell) await (isModern ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri }));
  await call('emit', { signal_type: 'pulse', to_identity: uri.replace('inbox://', '') });
  const changed = canTell ? await told : 'never told';
  const unknown = await client.callTool({ name: 'none', arguments: {} }).then(() => 0, (e) => e.code);
  console.log(JSON.stringify({
    version: client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion, server: client.getServerVersion()?.name,
    tools: tools.map((t) => t.name), found: box.signals.some((s) => s.id === sent.id), is_error: bad.isError === true,
    resources: resources.length, templates: resourceTemplates.length, read: contents[0].uri === resources[0].uri,
    prompts: prompts.map((p) => p.name), prompt: messages.length, unknown, changed: changed.replace(uri, 'the inbox'),
  }));
  await client.close();
};

await (mode === 'proxy' ? proxy() : run());
