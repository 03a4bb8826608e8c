import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type App, type Call, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Reply, Request } from '#ports/messages';
import { openDesk, submitted, temporaryFolder } from './support.ts';

const note = { note: 'a note of twenty-five letters' };
const loose = z.object({ note: z.string() });
const strict = z.object({ note: z.string().max(20) });

/** A shop with a bank that charges. Each deployment has its own input schema. */
function shop(atMostOnce: boolean) {
  const charged: string[] = [];
  const refunded: string[] = [];
  const deployed = (input: z.ZodType): App => {
    const bank = defineAgent('bank', {
      charge: operation({
        input,
        output: z.object({ chargeId: z.string() }),
        ...(atMostOnce ? { atMostOnce } : {}),
        run: (_: unknown, { idempotencyKey }: Call) => {
          if (atMostOnce || !charged.includes(idempotencyKey)) charged.push(idempotencyKey);
          return { chargeId: idempotencyKey };
        },
      }),
      refund: operation({
        input: z.object({ chargeId: z.string() }),
        output: z.object({}),
        run({ chargeId }) {
          refunded.push(chargeId);
          return {};
        },
      }),
    });
    const charge = bank.charge as (input: unknown) => ReturnType<typeof bank.charge>;
    const buy = defineWorkflow('buy', { version: 1, order: loose }, ({ order }) =>
      sequence(charge({ note: order.note }).undo(({ chargeId }) => bank.refund({ chargeId }))),
    );
    return defineApp({ workflows: [buy], agents: [bank] });
  };
  return { charged, refunded, deployed };
}

/** One order whose charge is requested several times, each time from the deployment of that moment. */
async function ordered(context: TestContext, { atMostOnce = false, firstBy = loose }: { atMostOnce?: boolean; firstBy?: z.ZodType } = {}) {
  const dataFolder = temporaryFolder(context);
  const { deployed, ...bank } = shop(atMostOnce);
  let desk = openDesk(context, deployed(firstBy), { dataFolder });
  const orderId = await submitted(desk, note);
  const deploy = (input: z.ZodType): void => {
    desk = openDesk(context, deployed(input), { dataFolder, clock: desk.clock, hostId: 'host-two' });
  };
  /** Serves the requests to the bank and returns its replies. */
  const serve = async (): Promise<readonly Reply['result'][]> => {
    assert.equal(await desk.deliver('bank-requests'), 0);
    return (desk.messages('bank-replies') as unknown as readonly Reply[]).map(({ result }) => result);
  };
  const apply = () => desk.deliver('bank-replies');
  /** Loses the reply and lets the deadline pass, so that the charge is requested again. */
  const again = async (): Promise<void> => {
    await desk.take('bank-replies');
    await desk.clock.advance(11_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
  };
  const instruct = async (kind: 'resubmit' | 'compensate'): Promise<void> => {
    const { rev } = await desk.state(orderId);
    const given = { kind, by: 'otto', reason: 'mended' } as const;
    const { outcome } = await desk.system.scheduler.instruct(orderId, given, { id: `${kind}@${rev}`, ifMatch: rev });
    assert.equal(outcome, 'done');
  };
  return { ...bank, deploy, serve, apply, again, instruct, state: () => desk.state(orderId), desk: () => desk };
}

const faultsIn = (results: readonly Reply['result'][]) =>
  results.map((result) => result.status === 'failed' && [result.fault.type, result.fault.permanent, result.fault.outcomeUnknown ?? false]);
const unknown = [['RequestRefused', true, true]];
const definite = [['RequestRefused', true, false]];

describe('an agent that refuses a request whose effect an earlier attempt may have made', () => {
  test('S7, F-28: when the scheduler sends a request again, a refusal of the copy by a newer schema does not say that the charge was not made', async (context) => {
    const { charged, deploy, serve, desk } = await ordered(context);
    const request = await desk().request('bank');
    await desk().send('bank-requests', { ...request });
    await serve();
    await desk().take('bank-replies');
    deploy(strict);
    await desk().send('bank-requests', { ...request, resent: true });
    assert.deepEqual(faultsIn(await serve()), unknown);
    assert.equal(charged.length, 1);
  });

  test('S7, S11: when the reply to a charge was lost and a newer schema refuses it, the charge is confirmed and refunded', async (context) => {
    const { charged, refunded, deploy, serve, apply, again, instruct, state, desk } = await ordered(context);
    await serve();
    await again();
    deploy(strict);
    assert.deepEqual(faultsIn(await serve()), unknown);
    await apply();
    assert.equal((await state()).processState, 'Error');
    await instruct('compensate');
    assert.deepEqual(faultsIn(await serve()), unknown, 'a confirmation does not know the outcome either');
    await apply();
    deploy(loose);
    for (let left = 3; left > 0; left--) {
      await desk().clock.advance(4_400_000);
      await desk().supervisor.pass();
      await desk().deliver('wake-ups');
      await serve();
      await apply();
    }
    assert.deepEqual([(await state()).outcome, charged.length, refunded], ['compensated', 1, charged]);
  });

  test('X-20, S7: an at-most-once operation whose reply was refused does not run a second time', async (context) => {
    const { charged, deploy, serve, apply, again, instruct, state } = await ordered(context, { atMostOnce: true });
    await serve();
    await again();
    deploy(strict);
    assert.deepEqual(faultsIn(await serve()), [['OutcomeUnknown', true, true]]);
    await apply();
    deploy(loose);
    await instruct('resubmit');
    assert.deepEqual(faultsIn(await serve()), [['OutcomeUnknown', true, true]]);
    await apply();
    assert.deepEqual([(await state()).processState, charged.length], ['Error', 1]);
  });

  test('X-20: when an at-most-once operation never began under its key, the refusal is definite, and it runs under a new key', async (context) => {
    const { charged, deploy, serve, apply, again, instruct, state } = await ordered(context, { atMostOnce: true, firstBy: strict });
    assert.deepEqual(faultsIn(await serve()), definite);
    await again();
    assert.deepEqual(faultsIn(await serve()), definite);
    await apply();
    deploy(loose);
    await instruct('resubmit');
    await serve();
    await apply();
    assert.deepEqual([(await state()).outcome, charged.length], ['completed', 1]);
  });

  test('F-44: when a step is resubmitted under a new key and refused again, the refusal is definite and needs no confirmation', async (context) => {
    const { serve, apply, instruct, state } = await ordered(context, { firstBy: strict });
    assert.deepEqual(faultsIn(await serve()), definite);
    await apply();
    await instruct('resubmit');
    assert.deepEqual(faultsIn(await serve()), definite);
    await apply();
    await instruct('compensate');
    assert.equal((await state()).outcome, 'compensated');
  });

  test('S11: when a process crashed while it handled a request, the redelivery does not count as the first request', async (context) => {
    const { deploy, serve, desk } = await ordered(context);
    await desk().queues.receive('bank-requests', { max: 1, visibilityMs: 5_000, waitMs: 0 });
    await desk().clock.advance(6_000);
    deploy(strict);
    assert.deepEqual(faultsIn(await serve()), unknown);
  });

  for (const [what, change] of [
    ['was requeued by its agent, because the service was unavailable,', { requeued: 1 }],
    ['only confirms an outcome', { confirming: true }],
  ] as const)
    test(`S11: a request that ${what} does not count as the first request of its step`, async (context) => {
      const { deploy, serve, desk } = await ordered(context);
      const [request] = (await desk().take('bank-requests')) as unknown as readonly Request[];
      await desk().send('bank-requests', { ...request, ...change });
      deploy(strict);
      assert.deepEqual(faultsIn(await serve()), unknown);
    });

  test('S11, F-111: when a later attempt is unprocessable, its rejection says nothing about the earlier attempt', async (context) => {
    const { serve, again, desk } = await ordered(context);
    await serve();
    await again();
    const [request] = (await desk().take('bank-requests')) as unknown as readonly Request[];
    await desk().send('bank-requests', { ...request, type: 'inquiry' });
    await serve();
    await desk().deadLetter();
    const [answer] = await serve();
    assert.deepEqual([answer?.status, answer && 'outcomeUnknown' in answer && answer.outcomeUnknown], ['rejected', true]);
  });
});
