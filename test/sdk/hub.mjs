// Clients of the hub for test/scenario/sdk_client.bats: node hub.mjs listen FILE | work N | calls | mistakes. CLIQ_URL and CLIQ_KEY
// say where.
import assert from 'node:assert';
import fs from 'node:fs';
import { CliqClient, CliqClientError } from '@cliqhub/cliq-sdk';

const hub = new CliqClient();
const [what, ...words] = process.argv.slice(2);

// Writes "SEQ ID" of each signal to the file; says when it is connected.
function listen(file, filter = '{}') {
  fs.writeFileSync(file, '');
  const news = hub.signals.subscribe(JSON.parse(filter), async (signal) => {
    await new Promise((resolve) => setImmediate(resolve));
    fs.appendFileSync(file, `${signal.sequence} ${signal.id.replace('signal:', '')}\n`);
  }, { on_state: (lost) => console.log(lost ? 'lost' : 'opened') });
  return news.closed;
}

// So many workers; prints each task's content; ends when it is told to.
async function work(n) {
  const worker = hub.work({ concurrency: Number(n), wait_seconds: 5 }, (task) => console.log(task.content));
  process.on('SIGTERM', async () => {
    await worker.stop();
    process.exit(0);
  });
  await worker.done;
}

async function calls() {
  const task = await hub.emit({ signal_type: 'task', content: 'one', urgency: 0.9, tags: ['t'] });
  assert.match(task.id, /^signal:[a-z0-9]{24}$/);
  const same = { signal_type: 'note', content: 'x', dedup_key: 'k1' };
  assert.equal((await hub.emit(same)).id, (await hub.emit(same)).id);
  assert.equal((await hub.emit_batch([{ signal_type: 'note' }, { signal_type: 'note' }])).length, 2);
  const claimed = await hub.claim({ types: ['task'] });
  assert.deepEqual([claimed.id, claimed.content, claimed.task_status], [task.id, 'one', 'claimed']);
  assert.equal(await hub.claim({ types: ['task'], wait_seconds: 0 }), null);
  await assert.rejects(hub.claim({ signal_id: task.id }), (problem) =>
    problem instanceof CliqClientError && problem.status === 409 && problem.code.startsWith('SIGNAL_') && problem.request_id !== undefined);
  assert.equal((await hub.status(claimed, 'in_progress')).task_status, 'in_progress');
  await hub.extend(claimed, 60);
  await hub.release(claimed);
  await hub.fail(await hub.claim({ signal_id: task.id }), 'no network', { retry_in: 0 });
  const again = await hub.claim({ wait_seconds: 10 });
  assert.equal(again.id, task.id);
  assert.equal((await hub.ack(again)).delivery_state, 'acked');
  const reply = await hub.emit({ signal_type: 'note', content: 'reply', parent_id: task.id });
  assert.deepEqual((await hub.thread(reply.id)).map((s) => s.content), ['one', 'reply']);
  assert.equal((await hub.get(task)).delivery_state, 'acked');
  assert.ok((await hub.history(task)).length > 4);
  const page = await hub.list({ type: ['note', 'task'], limit: 2 });
  assert.equal(page.length, 2);
  assert.equal((await hub.list({ type: ['note', 'task'], limit: 2, after: page.cursor })).length, 2);
  await hub.emit({ signal_type: 'note', content: 'for me', to_identity: 'admin' });
  assert.deepEqual((await hub.inbox('@admin', { type: 'note' })).map((s) => s.content).includes('for me'), true);
  assert.equal((await hub.signals.generate('build:web:done', { ok: true })).type, 'build:web:done');
  const later = await hub.signals.schedule('report:daily', new Date(Date.now() + 3_600_000), { repeatKey: 'daily' });
  assert.equal(later.type, 'report:daily');
  assert.equal((await hub.signals.delayed()).length, 1);
  assert.equal((await hub.signals.cancel({ repeatKey: 'daily' })).removed !== undefined, true);
  assert.equal((await hub.signals.delayed()).length, 0);
  const seen = [];
  const news = hub.signals.subscribe({ pattern: 'build:*:done', since: 0 }, (signal) => {
    seen.push(signal.payload);
    news.close();
  });
  await news.closed;
  assert.deepEqual(seen, [{ ok: true }]);
  const rings = hub.signals.subscribe({ pattern: 'a**' }, () => {});
  await assert.rejects(rings.closed, CliqClientError);
  const failing = hub.signals.subscribe({ since: 0 }, () => { throw new Error('mine'); });
  await assert.rejects(failing.closed, /mine/);
  await assert.rejects(new CliqClient({ key: 'cho_no' }).list(), (problem) => problem.status === 401);
  await assert.rejects(new CliqClient({ url: 'http://127.0.0.1:1', retry_ms: 0 }).list(), (problem) => problem.code === 'UNREACHABLE');
  await assert.rejects(new CliqClient({ url: 'http://127.0.0.1:1' }).signals.subscribe({}, () => {}).closed);
  assert.throws(() => new CliqClient({ url: 'localhost:3000' }), /url must be/);
}

// What goes wrong in a newcomer's first program.
async function mistakes() {
  const key = process.env.CLIQ_KEY;
  await new CliqClient({ url: new URL(process.env.CLIQ_URL), key: `${key}\n` }).list(); // read from a file
  assert.throws(() => new CliqClient({ key: 'cho_geheim\nX: y' }), (problem) => !problem.message.includes('geheim'));
  assert.throws(() => new CliqClient({ url: '' }), /url must be set, or CLIQ_URL/);
  assert.throws(() => hub.emit('task', 'x'), /emit takes one object/);
  assert.throws(() => hub.work((task) => task), /handler is not a function/);
  assert.throws(() => hub.work({ concurrency: 0 }, () => {}), /concurrency must be 1 or more/);
  assert.throws(() => hub.signals.subscribe(() => {}), /on_signal is not a function/);
  await assert.rejects(async () => hub.emit({ signal_type: 'note', content: 7n }), /BigInt/); // not "cannot be reached"
  await assert.rejects(hub.emit({ signal_type: '' }), (problem) => problem.status === 400);

  // a handler that throws nothing at all has failed, too
  const task = await hub.emit({ signal_type: 'task', content: 'x' });
  const worker = hub.work({ types: ['task'] }, () => {
    worker.stop();
    throw undefined;
  });
  await worker.done;
  assert.ok((await hub.history(task)).some((step) => step.op === 'fail'));

  // two subscriptions; each closes itself in its handler, at a payload that is nearly as large as a body may be
  const content = 'é'.repeat(500_000);
  const large = await hub.emit({ signal_type: 'large', content });
  await Promise.all([1, 2].map(async () => {
    const news = hub.signals.subscribe({ type: 'large', since: 0 }, async (signal) => {
      assert.equal(signal.id, large.id);
      assert.equal(signal.content, content);
      await news.close();
    });
    await news.closed;
  }));
  await assert.rejects(hub.emit({ signal_type: 'large', content: content + content }), (problem) => problem.status === 413);
}

// A failure that the program does not look at ends it.
function unseen() {
  hub.signals.subscribe({ pattern: 'a**' }, () => {});
}

await { listen, work, calls, mistakes, unseen }[what](...words);
