import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineApp, defineConsumer, defineWorkflow, delay, messageType, sequence, UnprocessableMessage } from 'redress';
import * as z from 'zod';
import type { Embedded } from '#adapters/sqlite/open';
import { collections } from '#ports/documents';
import { queueNames } from '#ports/messages';
import { queueEvent } from '#runtime/host/event-source';
import { instrumented, type PortCall } from '#testing/world/instrumented-ports';
import { functionBehind, openDesk, timePasses } from '../roles/support.ts';

/** The point at which a process of the consumer dies: at its call of this number, before it or after its effect. */
interface Crash {
  readonly call: number;
  readonly isApplied: boolean;
}

const queue = queueNames.messages('expenses');
const visibilityMs = 30_000;
const roundsMax = 12;

const never = (): Promise<never> => new Promise(() => {});

const waiting = defineWorkflow('waiting', { version: 1, order: z.object({}) }, () => sequence(delay({ seconds: 1 })));

/** An app whose consumer handles reports. It fails at some of them: always, or the first time. */
function expenses() {
  const handled: string[] = [];
  const seen = new Set<string>();
  const handle = ({ report }: { readonly report: string }): void => {
    const isFirst = !seen.has(report);
    seen.add(report);
    if (report === 'poison' || (report === 'late' && isFirst)) throw new UnprocessableMessage('There is no such employee.');
    handled.push(report);
  };
  const consumer = defineConsumer('expenses', { report: messageType({ body: z.object({ report: z.string() }), handle }) });
  return { app: defineApp({ workflows: [waiting], agents: [], consumers: [consumer] }), handled };
}

/** Has the consumer and the dead-letter function handle four messages. One process dies, and others take over. */
async function play(context: TestContext, { call: last, isApplied }: Crash) {
  const { app, handled } = expenses();
  const sites: string[] = [];
  let die = (): void => {};
  const died = new Promise<'died'>((resolve) => {
    die = () => resolve('died');
  });
  let isOver = false;
  const call = async ({ site, apply }: PortCall): Promise<unknown> => {
    if (isOver) return apply();
    const number = sites.push(site) - 1;
    if (number < last) return apply();
    if (number === last && isApplied) await apply();
    die();
    return never();
  };
  const around = ({ store, queues, publisher }: Embedded) => ({
    store: instrumented('store', store, call),
    queues: instrumented('queues', queues, call),
    publisher: instrumented('publisher', publisher, call),
  });
  const desk = openDesk(context, app, { around, writesAndSendsAtomically: false });
  const bodies = [{ report: 'good' }, { report: 'poison' }, { report: 7 }, { report: 'late' }];
  for (const body of bodies) await desk.send(queue, { v: 1, type: 'report', conversation: `about ${body.report}`, body });
  sites.length = 0;

  const deliver = async (from: string): Promise<void> => {
    const received = await desk.queues.receive(from, { max: 10, visibilityMs, waitMs: 0 });
    if (received.length === 0) return;
    const answer = functionBehind(from, desk.system)(queueEvent(from, received));
    const result = await timePasses(desk.clock, isOver ? answer : Promise.race([answer, died]));
    // Another process gets what the dead one has received, when it is visible again.
    if (result === 'died') return void (isOver = true);
    const back = new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = received.filter(({ messageId }) => !back.has(messageId));
    await desk.queues.acknowledge(
      from,
      done.map(({ receipt }) => receipt),
    );
  };
  const dead = queueNames.deadLetters(queue);
  for (let round = 0; round < roundsMax && desk.messages(queue).length + desk.messages(dead).length > 0; round++) {
    for (const from of [queue, dead]) await deliver(from);
    await desk.clock.advance(visibilityMs + 1);
  }
  const letters = (await desk.deadLetter()).map(({ body, failures }) => `${JSON.parse(body).conversation} ${failures}`).sort();
  const counts = (await desk.store.documents(collections.tracks('expenses'), undefined, 10)).filter(({ id }) => !id.startsWith('#'));
  const left = [...desk.messages(queue), ...desk.messages(dead)].length;
  return { sites, handled: [...new Set(handled)].sort(), letters, counts: counts.map(({ id }) => id), left };
}

/** Each message is handled, or a dead letter once with its failures. Nothing is left on a queue, and no count is left. */
const whole = { handled: ['good', 'late'], letters: ['about 7 1', 'about poison 4'], counts: [], left: 0 };

test('F-113, F-174, X-1: a process of a consumer dies at one of its calls, and each message is handled or dead-lettered as without the crash', async (context) => {
  const { sites, ...found } = await play(context, { call: Number.POSITIVE_INFINITY, isApplied: false });
  assert.deepEqual(found, whole);
  assert.ok(sites.includes('store.putDocument') && sites.includes('queues.send'), sites.join(', '));
  for (let call = 0; call < sites.length; call++)
    for (const isApplied of [false, true]) {
      const { sites: _, ...crashed } = await play(context, { call, isApplied });
      assert.deepEqual(crashed, whole, `the process dies ${isApplied ? 'after' : 'before'} call ${call}, ${sites[call]}`);
    }
});
