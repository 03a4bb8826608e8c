import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Request } from '#ports/messages';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { handlingMs, type Treated, type Treatment, treat } from '#roles/dead-letters/resubmit';
import { decodeInstance } from '#roles/scheduler/instance';
import { type Desk, lineOf, noting, openDesk, submitted, tea } from '../support.ts';

/** An order with one step whose request was dead-lettered. */
async function withRequest(context: TestContext, change: Partial<Request> = {}) {
  const requested: string[] = [];
  const app = lineOf(
    { pack: ({ item }) => noting(requested, item, {}) },
    { completeWithinSeconds: 3600, operation: { completeWithinSeconds: 3600 } },
  );
  const desk = openDesk(context, app, { writesAndSendsAtomically: false });
  const orderId = await submitted(desk, tea);
  const request = await desk.request();
  const id = await deadLetter(desk, { ...request, ...change }, orderId);
  return { desk, orderId, id, request, requested: requested };
}

let messages = 0;
async function deadLetter({ store, clock }: Desk, body: object, orderId: string): Promise<string> {
  const about = { queue: 'worker-requests', messageId: `m-${++messages}`, sentAt: clock.now() };
  const id = deadLetterId(about);
  const story = { reason: 'It failed.', attempts: [], failures: 4, deadAt: clock.now() };
  await store.putDocument(deadLetterDocument({ ...about, ...story, id, body: JSON.stringify(body), orderId }), 0);
  return id;
}

const treated = ({ system }: Desk, id: string, more: Partial<Treatment> = {}, ports: object = {}): Promise<Treated> =>
  treat('worker', id, { action: 'resubmit', by: 'olga', reason: 'mended', ...more }, { ...system, defaultWorkflow: 'line', ...ports });

/** Ports that crash at their nth call, before or after the call takes effect. */
function dyingPorts({ system }: Desk, nth: number, when: 'before' | 'after') {
  let calls = 0;
  const dying = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const work = Reflect.get(target, name) as unknown;
        if (typeof work !== 'function') return work;
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls > nth || (calls === nth && when === 'before')) throw new Error('The process is gone.');
          const answer: unknown = await work.apply(target, args);
          if (calls === nth) throw new Error('The process is gone.');
          return answer;
        };
      },
    });
  return { ports: { store: dying(system.store), queues: dying(system.queues) }, crashed: () => calls >= nth };
}

describe('F-120: a resubmission during which the process crashes can be repeated', () => {
  for (const when of ['before', 'after'] as const)
    test(`nothing is lost, and only an operator who was warned sends the message twice: crash ${when} each call`, async (context) => {
      let crashes = 0;
      for (let nth = 1; ; nth++) {
        const { desk, orderId, id, requested } = await withRequest(context);
        const { ports, crashed } = dyingPorts(desk, nth, when);
        await treated(desk, id, {}, ports).catch(() => undefined);
        if (!crashed()) break;
        crashes += 1;
        const sent = desk.messages('worker-requests').length;
        await desk.clock.advance(handlingMs);
        const repeated = await treated(desk, id);
        assert.equal(
          desk.messages('worker-requests').length,
          repeated.outcome === 'done' ? 1 : sent,
          `call ${nth}: never sent twice without a warning`,
        );
        if (repeated.outcome === 'conflict') assert.equal((await treated(desk, id, { again: true })).outcome, 'done', `call ${nth}`);
        assert.deepEqual(await desk.store.documents('DEAD-LETTER#worker', undefined, 10), []);
        await desk.deliver('worker-requests');
        await desk.deliver('worker-replies');
        assert.deepEqual([(await desk.state(orderId)).outcome, [...new Set(requested)]], ['completed', ['tea']]);
      }
      assert.ok(crashes >= 6, `${crashes} calls`);
    });
});

test('a dead request that is sent again has the time that is left, the time that each heartbeat adds, and no requeue count', async (context) => {
  const more = { requeued: 3, remainingMs: 1, givenMs: 3_600_000, waitsSince: '2026-01-01T00:00:00.000Z' };
  const { desk, id, request } = await withRequest(context, more);
  await desk.clock.advance(600_000);
  assert.equal((await treated(desk, id)).outcome, 'done');
  const [sent] = desk.messages('worker-requests');
  assert.deepEqual(sent, { ...request, remainingMs: 3_000_000, givenMs: 3_600_000, resent: true });
});

test('after many resubmissions of dead letters to a finished order, the notes about them move to its journal before they exceed the limit', async (context) => {
  const { desk, orderId, id } = await withRequest(context);
  await treated(desk, id);
  await desk.deliver('worker-requests');
  await desk.deliver('worker-replies');
  for (let more = 0; more < 25; more++)
    assert.equal((await treated(desk, await deadLetter(desk, { orderId }, orderId), { action: 'discard' })).outcome, 'done');
  const before = await desk.state(orderId);
  await desk.deliver('wake-ups');
  const { outcome, notes, ...record } = await desk.state(orderId);
  const { tail } = decodeInstance({ outcome, notes, ...record });
  assert.deepEqual([before.notes.length, outcome, notes, record.nextDueAt], [25, 'completed', [], null]);
  assert.equal(tail.filter(({ type }) => type === 'MessageDiscarded').length, 25);
});
