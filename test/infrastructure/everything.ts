import assert from 'node:assert/strict';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { keys } from '#adapters/aws/dynamodb/keys';
import type { AwsConfig } from '#adapters/aws/open';
import { collections } from '#ports/documents';
import { queueNames, timeText } from '#ports/messages';
import { dayOf } from '#ports/util/days';
import { channelOf } from '#roles/channels/policy';
import { changeChannelState } from '#roles/channels/state';
import { conversationOf } from '#roles/dead-letters/conversation';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { outboxMs } from '#roles/scheduler/deadlines';
import { acquireLease } from '#roles/scheduler/lease';
import { childIdOf } from '#roles/submission/submission';
import { queueEvent } from '#runtime/host/event-source';
import { topologyOf } from '#runtime/topology';
import app from './app.ts';
import type { Roles } from './roles.ts';

const shop = { as: 'client', client: 'shop' } as const;
const operator = { as: 'operator' } as const;
const answered = 'redress-response-shop';
/** A registered response queue that does not exist. */
const gone = 'redress-response-gone';
/** The step timeout plus the clock tolerance. */
const stepMs = 63_000;

/** Has every role do everything that it can do, rare or common. */
export async function everything(roles: Roles, deployment: AwsConfig): Promise<void> {
  await roles.outside.clients.sqs.send(new CreateQueueCommand({ QueueName: answered }));
  await register(roles);
  await writeRules(roles);
  await writeSolutions(roles);
  await goodOrders(roles);
  await readings(roles);
  await ordersByMessage(roles);
  await requestedOnce(roles);
  await messagesForAConsumer(roles);
  await stuckOrders(roles);
  await blockedOrders(roles);
  await callingOrders(roles, deployment);
  await endedCaller(roles);
  await bulkRuns(roles);
  await notifications(roles);
  await messagesDeadLetter(roles);
  await damagedOrder(roles, deployment);
  await newerMessages(roles);
  await servicesAway(roles);
  await poison(roles);
  await closedChannels(roles);
  await canary(roles);
  await awaited(roles);
}

let orders = 0;
async function submit(roles: Roles, workflow: string, more: object = {}): Promise<string> {
  const body = { workflow, order: { item: 'tea' }, ...more };
  const headers = { 'idempotency-key': `order-${++orders}` };
  const answer = await roles.call('POST', '/orders', { ...shop, body, headers });
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return String(answer.body['orderId']);
}

async function register(roles: Roles): Promise<void> {
  const body = { responseChannels: [answered, gone], senders: ['robot'], appClients: ['shop-app'], reason: 'a new client' };
  const put = (headers = {}) => roles.call('PUT', '/clients/shop', { as: 'admin', body, headers });
  assert.equal((await put()).status, 201);
  assert.equal((await put({ 'if-match': '"1"' })).status, 200);
  assert.equal((await roles.call('GET', '/clients', { as: 'admin' })).status, 200);
  for (const query of ['', 'by=admin', 'kind=client'])
    assert.equal((await roles.call('GET', '/audit', { as: 'admin', query })).status, 200, query);
}

async function writeRules(roles: Roles): Promise<void> {
  const body = { event: { kind: 'step-late' }, action: { kind: 'announce', text: 'late' }, reason: 'a trial' };
  const put = (headers = {}) => roles.call('PUT', '/rules/late', { as: 'admin', body, headers });
  assert.equal((await put()).status, 201);
  assert.equal((await put({ 'if-match': '"1"' })).status, 200);
  for (const path of ['/rules', '/rules/late', '/rules/late/versions'])
    assert.equal((await roles.call('GET', path, { as: 'admin' })).status, 200, path);
  const tested = { rule: { event: { kind: 'exception' }, action: { kind: 'suspend' } }, days: 1 };
  assert.equal((await roles.call('POST', '/rules/back-test', { as: 'admin', body: tested })).status, 200);
}

async function writeSolutions(roles: Roles): Promise<void> {
  const body = { instruction: { kind: 'resubmit' }, appliesWhen: 'true', reason: 'a trial' };
  const call = (method: Parameters<Roles['call']>[0], path: string, more: object = {}) =>
    roles.call(method, path, { ...operator, ...more });
  assert.equal((await call('PUT', '/solutions/again', { body })).status, 201);
  assert.equal((await call('PUT', '/solutions/again', { body, headers: { 'if-match': '"1"' } })).status, 200);
  for (const path of ['/solutions', '/solutions/again']) assert.equal((await call('GET', path)).status, 200, path);
  assert.equal((await call('POST', '/solutions/again/rule', { body: {} })).status, 200);
  assert.equal((await call('PUT', '/solutions/gone', { body })).status, 201);
  assert.equal((await call('DELETE', '/solutions/gone', { query: 'reason=over', headers: { 'if-match': '"1"' } })).status, 200);
}

/** Completes orders: with a response queue, with one that is gone, and with a wait at the start. */
async function goodOrders(roles: Roles): Promise<void> {
  const ids = [
    await submit(roles, 'both', { responseChannel: answered, reference: 'r-1' }),
    await submit(roles, 'both', { responseChannel: gone }),
    await submit(roles, 'later'),
  ];
  await roles.settle();
  roles.pass(31_000);
  await roles.supervise('supervisor');
  await roles.settle();
  for (const id of ids) assert.equal((await roles.outside.store.head(id))?.processState, 'Processed', id);
  assert.equal((await roles.call('GET', `/orders/${ids[0]}/history`, shop)).status, 200);
  assert.equal((await roles.call('GET', `/orders/${ids[0]}/dependents`, operator)).status, 200);
}

async function readings(roles: Roles): Promise<void> {
  for (const query of ['', 'reference=r-1']) assert.equal((await roles.call('GET', '/orders', { ...shop, query })).status, 200);
  for (const path of ['/channels', '/exceptions', '/exceptions/groups', '/overview', '/workflows'])
    assert.equal((await roles.call('GET', path, operator)).status, 200, path);
  for (const query of ['', 'state=Error']) assert.equal((await roles.call('GET', '/orders', { ...operator, query })).status, 200);
}

async function ordersByMessage(roles: Roles): Promise<void> {
  const post = (message: object): Promise<void> =>
    roles.outside.queues.send([{ queue: queueNames.submissions, body: JSON.stringify({ v: 1, type: 'submission', ...message }) }]);
  const order = { item: 'coffee' };
  await post({ client: 'shop', idempotencyKey: 'm-1', workflow: 'both', order });
  await post({ client: 'shop', idempotencyKey: 'm-2', workflow: 'later', order });
  await post({ client: 'shop', idempotencyKey: 'm-3', workflow: 'nothing', order, responseChannel: answered });
  await post({ client: 'shop', idempotencyKey: 'm-4', workflow: 'both', order: {}, responseChannel: answered });
  await post({ client: 'somebody', idempotencyKey: 'm-5', workflow: 'both', order });
  await roles.deliver(queueNames.submissions, (message) => ({ ...message, senderId: 'robot' }));
  await roles.settle();
}

/** Messages that start orders, that cannot be handled, and whose service is away until the breaker opens. */
async function messagesForAConsumer(roles: Roles): Promise<void> {
  const queue = queueNames.messages('ledger');
  const send = (note: string, times = 1) =>
    roles.outside.queues.send(
      Array.from({ length: times }, () => ({ queue, body: JSON.stringify({ v: 1, type: 'entry', conversation: note, body: { note } }) })),
    );
  await send('tea');
  // The same message is delivered twice, as after a crash.
  const [message] = await roles.outside.queues.receive(queue, { max: 1, visibilityMs: 1000, waitMs: 0 });
  assert.ok(message);
  for (const _ of [1, 2]) await roles.run('consumer-ledger', queueEvent(queue, [message]));
  await send('sold out');
  await roles.settle();
  await send('nobody there', 6);
  await roles.deliver(queue);
  assert.equal((await roles.outside.store.breaker('ledger'))?.closedAt, null);
  await roles.lose(queue);
}

/** Puts one order in Error, where an operator keeps the instruction that resolves its task, and leaves one to the sweeper. */
async function stuckOrders(roles: Roles): Promise<void> {
  const id = await submit(roles, 'both');
  await roles.lose('stock-requests');
  // The rule about late steps comes first, then the threshold.
  for (let time = 1; time <= 2; time++) {
    roles.pass(stepMs);
    await roles.supervise('supervisor');
    await roles.settle();
  }
  const { headers, body: order } = await roles.call('GET', `/orders/${id}`, operator);
  const task = `/tasks/${String(order['taskId'])}`;
  const { suggestions } = (await roles.call('GET', task, operator)).body;
  assert.partialDeepStrictEqual(suggestions, [{ solutionId: 'again', feasible: true }]);
  const body = { instruction: { kind: 'resubmit' }, saveAs: { name: 'The agent is back' }, reason: 'the agent is back' };
  const instructed = await roles.call('POST', `${task}/resolve`, { ...operator, body, headers: { 'if-match': String(headers['etag']) } });
  assert.equal(instructed.status, 202, JSON.stringify(instructed.body));
  await roles.settle();

  await submit(roles, 'both');
  await roles.lose('stock-requests');
  roles.pass(stepMs);
  // The position that an earlier run of the sweeper has saved.
  const place = { collection: collections.sweep, id: 'PLACE', rev: 1, content: { after: JSON.stringify(keys.order('')) } };
  assert.equal((await roles.outside.store.putDocument(place, 0)).outcome, 'written');
  await yesterdaysEntry(roles);
  await roles.supervise('sweeper');
  await roles.settle();
  const { body: first } = await roles.call('GET', '/audit/days', { as: 'admin', query: 'limit=1' });
  assert.equal((await roles.call('GET', '/audit/days', { as: 'admin', query: `cursor=${String(first['next'])}` })).status, 200);
}

/** An entry of the audit of the last day that is over, so that its digest has a part. */
async function yesterdaysEntry({ clock, outside: { store } }: Roles): Promise<void> {
  const day = dayOf(clock.now() - 25 * 3_600_000);
  assert.equal((await store.putDocument({ collection: collections.audit(day), id: 'e', rev: 1, content: {} }, 0)).outcome, 'written');
}

/** An at-most-once operation that runs, and one that is refused before it begins. */
async function requestedOnce(roles: Roles): Promise<void> {
  const id = await submit(roles, 'stamped');
  await submit(roles, 'stamped', { order: { item: 'no way' } });
  await roles.settle();
  assert.equal((await roles.outside.store.head(id))?.processState, 'Processed');
  assert.equal((await roles.call('POST', `/orders/${id}/erase`, { as: 'admin', body: { reason: 'asked to' } })).status, 200);
}

/** Messages for a leased order are requeued. */
async function blockedOrders(roles: Roles): Promise<void> {
  const id = await submit(roles, 'both');
  for (const agent of ['stock', 'post']) await roles.deliver(queueNames.requests(agent));
  const { store, queues } = roles.outside;
  await acquireLease(store, id, { holder: 'somebody', leaseMs: 60_000, clock: roles.clock });
  await queues.send([{ queue: queueNames.wakeUps, body: JSON.stringify({ v: 1, type: 'wake-up', orderId: id, sentAt: timeText(0) }) }]);
  await roles.settle();
}

/** Orders with calls complete, are canceled, and request a lost reply again. */
async function callingOrders(roles: Roles, { table }: AwsConfig): Promise<void> {
  const id = await submit(roles, 'outer');
  await roles.deliver(queueNames.calls);
  await roles.lose(queueNames.callReplies);
  roles.pass(600_000);
  await roles.supervise('supervisor');
  await roles.settle();
  const { items } = (await roles.call('GET', '/orders', { ...operator, query: 'state=Error&workflow=failing' })).body;
  const [failing] = items as { orderId: string; rev: number }[];
  const body = { kind: 'terminate', reason: 'it never will' };
  const headers = { 'if-match': `"${failing?.rev}"` };
  assert.equal((await roles.call('POST', `/orders/${failing?.orderId}/instructions`, { ...operator, body, headers })).status, 202);
  await damage(roles, table, childIdOf(`${id}/order/nothing/1`));
  await roles.call('POST', `/orders/${id}/cancel`, { ...operator, body: { reason: 'enough' } });
  await roles.settle();
  await roles.outside.queues.send([
    {
      queue: queueNames.submissions,
      body: JSON.stringify({ v: 1, type: 'submission', client: 'shop', idempotencyKey: 'm-9', workflow: 'outer', order: { item: 'tea' } }),
    },
  ]);
  await roles.deliver(queueNames.submissions, (message) => ({ ...message, senderId: 'robot' }));
  await roles.settle();
}

/** A called order whose caller has already ended. */
async function endedCaller(roles: Roles): Promise<void> {
  const id = await submit(roles, 'outer');
  const { headers } = await roles.call('GET', `/orders/${id}`, operator);
  const body = { kind: 'terminate', reason: 'a mistake' };
  const match = { 'if-match': String(headers['etag']) };
  assert.equal((await roles.call('POST', `/orders/${id}/instructions`, { ...operator, body, headers: match })).status, 202);
  await roles.settle();
}

/** Instructions for many orders: the bulk function requests, cancels, answers callers and clients, and waits. */
async function bulkRuns(roles: Roles): Promise<void> {
  const stuck = await submit(roles, 'both', { responseChannel: answered });
  await roles.lose('stock-requests');
  const other = await submit(roles, 'both', { responseChannel: answered });
  await roles.deliver('stock-requests');
  await roles.lose('post-requests');
  roles.pass(stepMs);
  // The first pass is about the status messages, which the clients have.
  for (const _ of ['sent', 'late']) {
    await roles.supervise('supervisor');
    await roles.settle();
  }
  const waiting = await submit(roles, 'later');
  const outer = await submit(roles, 'outer');
  await roles.settle();

  await bulk(roles, { ids: [stuck, other] }, 'resubmit');
  await roles.settle();
  await bulk(roles, { workflow: 'later', state: 'Processing' }, 'suspend');
  await bulk(roles, { ids: [waiting] }, 'resume');
  const { items } = (await roles.call('GET', '/exceptions', { ...operator, query: 'workflow=failing&state=open' })).body;
  const [alike] = items as { fingerprint: string }[];
  await bulk(roles, { fingerprint: alike?.fingerprint ?? '', state: 'Error' }, 'terminate');
  await tasksOfPeople(roles);
  await bulk(roles, { state: 'Error' }, 'compensate');
  await bulk(roles, { ids: [outer] }, 'cancel');
  await bulk(roles, { ids: [stuck, other] }, 'terminate');
  await roles.settle();
}

/** A person claims the task of a blocked order, and assigns it to a group. */
async function tasksOfPeople(roles: Roles): Promise<void> {
  const { items } = (await roles.call('GET', '/tasks', operator)).body;
  const [task] = items as { id: string }[];
  const path = `/tasks/${task?.id}`;
  for (const [action, body] of [
    ['claim', undefined],
    ['assign', { group: 'claims' }],
  ] as const) {
    const acted = await roles.call('POST', `${path}/${action}`, { ...operator, ...(body ? { body } : {}) });
    assert.equal(acted.status, 200, JSON.stringify(acted.body));
  }
  for (const query of ['group=claims', 'assignee=me', 'state=resolved'])
    assert.equal((await roles.call('GET', '/tasks', { ...operator, query })).status, 200, query);
  assert.equal((await roles.call('GET', path, operator)).status, 200);
}

/** The notifier tells of the blocked orders, counts the failed tries of its messages, and reminds of one task. */
async function notifications(roles: Roles): Promise<void> {
  const group = { as: 'admin', body: { members: ['ann'], notify: [], reason: 'a team' } } as const;
  assert.equal((await roles.call('PUT', '/groups/operators', group)).status, 201);
  assert.equal((await roles.call('GET', '/groups', operator)).status, 200);
  await roles.supervise('notifier');
  // No person takes the question of the next order, so the order gets a message.
  const nobody = { as: 'admin', body: { members: [], notify: [], reason: 'an empty team' } } as const;
  assert.equal((await roles.call('PUT', '/groups/nobody', nobody)).status, 201);
  await submit(roles, 'asking');
  await roles.settle();
  await roles.supervise('notifier');
  await roles.settle();
  await submit(roles, 'failing');
  await roles.settle();
  await roles.supervise('notifier');
  const { items } = (await roles.call('GET', '/exceptions/groups', operator)).body;
  const [alike] = items as { fingerprint: string }[];
  const note = { ...operator, body: { note: 'seen' } };
  assert.equal((await roles.call('PATCH', `/exceptions/groups/${alike?.fingerprint}`, note)).status, 200);
  roles.pass(4 * 3_600_000 + 1000);
  await roles.supervise('notifier');
}

let bulks = 0;
async function bulk(roles: Roles, filter: object, kind: string): Promise<void> {
  const body = { filter, instruction: { kind }, reason: 'for all', ratePerSecond: 100, start: true };
  const { status, body: made } = await roles.call('POST', '/bulk', {
    ...operator,
    body,
    headers: { 'idempotency-key': `bulk-${++bulks}` },
  });
  assert.equal(status, 202, JSON.stringify(made));
  await roles.supervise('bulk');
  const id = String(made['id']);
  for (const path of ['/bulk', `/bulk/${id}`, `/bulk/${id}/items`]) {
    const answer = await roles.call('GET', path, operator);
    assert.equal(answer.status, 200, path);
    if (path.endsWith(id)) assert.equal(answer.body['state'], 'done', JSON.stringify(answer.body));
  }
}

/** Both services are away: the breakers open, and further requests are requeued. */
async function servicesAway(roles: Roles): Promise<void> {
  for (let order = 1; order <= 4; order++) await submit(roles, 'both', { order: { item: 'nobody there' } });
  await roles.settle();
  for (const agent of ['stock', 'post']) assert.equal((await roles.outside.store.breaker(agent))?.closedAt, null, agent);
  await submit(roles, 'both');
  await roles.settle();
}

async function damagedOrder(roles: Roles, { table }: AwsConfig): Promise<void> {
  const id = await submit(roles, 'both');
  await damage(roles, table, id);
  await roles.settle();
}

/** Messages of a newer program version are requeued. */
async function newerMessages(roles: Roles): Promise<void> {
  const consumed = topologyOf(app).flatMap(({ sources }) => sources.map(({ queue }) => queue));
  for (const queue of consumed.filter((each) => !each.endsWith('-dead'))) {
    await roles.outside.queues.send([{ queue, body: JSON.stringify({ v: 2, type: 'news' }) }]);
    await roles.deliver(queue);
  }
}

/** Resubmits dead letters to every queue, and discards the others. */
async function messagesDeadLetter(roles: Roles): Promise<void> {
  const { store, queues } = roles.outside;
  let messages = 0;
  const deadLetter = async (queue: string, body: string, orderId: string): Promise<string> => {
    const sentAt = roles.clock.now();
    const about = { queue, messageId: `m-${++messages}`, sentAt, orderId, body };
    const id = deadLetterId(about);
    await store.putDocument(deadLetterDocument({ ...about, id, reason: 'nobody knows', attempts: [], failures: 0, deadAt: sentAt }), 0);
    return `/channels/${channelOf(queue)}/dead-letters/${id}`;
  };
  const treat = async (method: 'POST' | 'DELETE', path: string, status: number): Promise<void> => {
    const answer = await roles.call(method, path, { ...operator, body: { reason: 'as it should be' } });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
  };
  for (const queue of ['stock-requests', 'stock-replies', 'post-requests', 'post-replies', queueNames.calls, queueNames.callReplies]) {
    const workflow = channelOf(queue) === 'workflows' ? 'outer' : channelOf(queue) === 'post' ? 'stamped' : 'one';
    const id = await submit(roles, workflow);
    for (const to of queue.endsWith('-replies') ? [queue.replace(/replies$/, 'requests')] : []) await roles.deliver(to);
    const [message] = await queues.receive(queue, { max: 1, visibilityMs: 1000, waitMs: 0 });
    assert.ok(message, queue);
    await queues.acknowledge(queue, [message.receipt]);
    const path = await deadLetter(queue, message.body, id);
    assert.equal((await roles.call('GET', path, operator)).status, 200);
    await treat('POST', `${path}/resubmit`, 202);
    await roles.settle();
  }
  const entry = JSON.stringify({ v: 1, type: 'entry', body: { note: 'tea' } });
  await treat('POST', `${await deadLetter(queueNames.messages('ledger'), entry, 'nobody')}/resubmit`, 202);
  await roles.settle();
  await treat('DELETE', await deadLetter(queueNames.wakeUps, 'torn', 'nobody'), 200);
  assert.equal((await roles.call('GET', '/channels/stock/dead-letters', operator)).status, 200);
}

/**
 * Each function closes each of its channels, the supervisor repairs mappings and missing announcements, and an operator opens the channel.
 */
async function closedChannels(roles: Roles): Promise<void> {
  for (const { name, sources } of topologyOf(app))
    for (const { queue } of sources.filter((source) => !source.queue.endsWith('-dead'))) {
      await roles.closes(name, queue);
      const channel = channelOf(queue);
      // The record as after a crash before the announcement.
      await changeChannelState(channel, roles.outside.store, (state) => state && { ...state, rev: state.rev + 1, unannounced: true });
      roles.pass(outboxMs);
      await roles.supervise('supervisor');
      await roles.supervise('sweeper');
      const opened = await roles.call('POST', `/channels/${channel}/open`, { ...operator, body: {} });
      assert.equal(opened.status, 200, JSON.stringify(opened.body));
      await roles.supervise('supervisor');
      const closed = await roles.call('POST', `/channels/${channel}/close`, { ...operator, body: { reason: 'maintenance' } });
      assert.equal(closed.status, 200, JSON.stringify(closed.body));
      await roles.call('POST', `/channels/${channel}/open`, { ...operator, body: { canary: true } });
      roles.pass(60_000);
      await roles.supervise('supervisor');
    }
}

/** Opens the channel of an agent whose service works, with one request first. */
async function canary(roles: Roles): Promise<void> {
  const { store } = roles.outside;
  const breaker = await store.breaker('stock');
  assert.ok(breaker);
  await store.putBreaker({ ...breaker, rev: breaker.rev + 1, closedAt: breaker.openedAt }, breaker.rev);
  roles.pass(3_600_000);
  await roles.call('POST', '/channels/stock/close', { ...operator, body: { reason: 'maintenance' } });
  const opened = await roles.call('POST', '/channels/stock/open', { ...operator, body: { canary: true } });
  assert.equal(opened.status, 200, JSON.stringify(opened.body));
  assert.equal((await store.breaker('stock'))?.closedAt, null);
}

async function awaited(roles: Roles): Promise<void> {
  const id = await submit(roles, 'later');
  assert.equal((await roles.call('GET', `/orders/${id}`, { ...shop, query: 'wait=1' })).status, 200);
}

const damage = (roles: Roles, table: string, id: string) =>
  roles.outside.clients.dynamodb.send(
    new UpdateCommand({
      TableName: table,
      Key: keys.state(id),
      UpdateExpression: 'SET #blob = :blob',
      ExpressionAttributeNames: { '#blob': 'blob' },
      ExpressionAttributeValues: { ':blob': 'nonsense' },
    }) as never,
  );

/**
 * Two redelivered, unreadable messages on every queue: one in a conversation with a failure, and another one. A third one is in the
 * dead-letter queue without a failure, as after an outage.
 */
async function poison(roles: Roles): Promise<void> {
  const { queues, store } = roles.outside;
  const consumed = topologyOf(app).flatMap(({ sources }) => sources.map(({ queue }) => queue));
  for (const queue of consumed.filter((each) => !each.endsWith('-dead'))) {
    const said = { orderId: 'o', path: 'p', requestId: 'o/p/1#1.1', attempt: 1, epoch: 1, conversation: 'c' };
    const body = JSON.stringify({ v: 1, type: 'nonsense', ...said, client: 'shop', idempotencyKey: 'm-99', responseChannel: answered });
    const id = conversationOf({ queue, messageId: '', body });
    const content = { failures: 1, attempts: [{ at: 0, error: 'It failed.' }] };
    await store.putDocument({ collection: collections.tracks(channelOf(queue)), id, rev: 1, content }, 0);
    await queues.send(['nonsense', body].map((each) => ({ queue, body: each })));
    await roles.deliver(queue, (message) => ({ ...message, senderId: 'robot', receiveCount: 2 }));
    await queues.send([{ queue: queueNames.deadLetters(queue), body: JSON.stringify({ v: 1, type: 'nonsense' }) }]);
  }
  await roles.settle();
}
