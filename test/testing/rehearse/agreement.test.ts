import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Call,
  compensate,
  defineAgent,
  defineApp,
  defineWorkflow,
  EngineFault,
  fault,
  operation,
  retry,
  sequence,
  TransientFailure,
  type WorkflowDefinition,
} from 'redress';
import { given, instruct, type ManualClock, manualClock, rehearse, startSystem } from 'redress/testing';
import * as z from 'zod';

const Sold = fault('Sold');
const Empty = z.object({});
type Trouble = 'Sold' | 'silent' | 'not now' | 'takes 8' | 'takes 40';

/** The behavior of each operation, call by call; later calls succeed. */
const script = new Map<string, Trouble[]>();
const requested: string[] = [];
let clock: ManualClock;

async function play<O>(name: string, call: Call<'Sold'>, output: O) {
  requested.push(name);
  const trouble = script.get(name)?.shift();
  if (trouble === 'silent') await new Promise((_, reject) => call.signal.addEventListener('abort', reject));
  if (trouble?.startsWith('takes')) await clock.sleep(Number(trouble.slice(6)) * 1000);
  if (trouble === 'not now') throw new TransientFailure('Not now.');
  return trouble === 'Sold' ? call.failed(Sold, 'It is sold.') : output;
}

const one = { attemptsMax: 1, faults: [Sold] };
const hotel = defineAgent('hotel', {
  book: operation({
    input: Empty,
    output: z.object({ room: z.string() }),
    ...one,
    run: (_, call) => play('hotel.book', call, { room: '7' }),
  }),
  free: operation({ input: z.object({ room: z.string() }), output: Empty, ...one, run: (_, call) => play('hotel.free', call, {}) }),
});
const train = defineAgent('train', {
  ride: operation({ input: Empty, output: Empty, ...one, run: (_, call) => play('train.ride', call, {}) }),
});

type Exhausted = Pick<WorkflowDefinition, 'recover'> & { readonly onExhausted: 'error' | 'fault' | 'undo' };

const trip = (exhausted: Exhausted) =>
  defineWorkflow('trip', { version: 1, order: Empty, ...exhausted, toOperator: [] }, () =>
    sequence(
      hotel.book({}).undo(({ room }) => hotel.free({ room })),
      retry(train.ride({}), { retries: 1, intervalSeconds: 10, except: [Sold] }),
    )
      .on(Sold, () => compensate())
      .on(EngineFault, () => compensate()),
  );

async function real(
  exhausted: Exhausted,
  troubles: { readonly [operation: string]: readonly Trouble[] },
  { cancelAfterMs }: { readonly cancelAfterMs?: number } = {},
) {
  script.clear();
  for (const [name, list] of Object.entries(troubles)) script.set(name, [...list]);
  requested.length = 0;
  const system = await startSystem(defineApp({ workflows: [trip(exhausted)], agents: [hotel, train] }), { clock: (clock = manualClock()) });
  try {
    const submitted = await system.submit({});
    assert.ok(submitted.outcome === 'accepted');
    const { orderId } = submitted.order;
    if (cancelAfterMs !== undefined) {
      await system.passTime(cancelAfterMs);
      assert.equal((await system.cancel(orderId)).outcome, 'done');
    }
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await system.clock.advance(1000);
      const { processState, outcome } = await system.state(orderId);
      if (processState === 'Processed' || processState === 'Error') return { outcome: outcome ?? 'blocked', requested: [...requested] };
    }
    return { outcome: 'stuck', requested: [...requested] };
  } finally {
    await system.stop();
  }
}

/** The words with which a title describes each behavior. */
const descriptions: { readonly [trouble in Trouble]: string } = {
  Sold: 'is refused',
  silent: 'sends no reply',
  'not now': 'has a transient failure',
  'takes 8': 'takes 8 seconds',
  'takes 40': 'takes 40 seconds',
};

const whensOf = {
  Sold: given(train.ride).faults(Sold).once(),
  silent: given(train.ride).isSilent(5),
  'not now': given(train.ride).failsForNow(1),
  'takes 8': given(train.ride).takes(8),
  'takes 40': given(train.ride).takes(40),
};

const ways: readonly Exhausted[] = [
  ...(['error', 'fault', 'undo'] as const).map((onExhausted) => ({ onExhausted })),
  { recover: 'order', onExhausted: 'undo' },
];

describe('a rehearsal sends the same requests as the whole system, and has the same end', () => {
  for (const exhausted of ways)
    for (const trouble of ['Sold', 'silent', 'not now', 'takes 8', 'takes 40'] as const)
      test(`when train.ride ${descriptions[trouble]}, with onExhausted ${exhausted.onExhausted}${exhausted.recover === 'order' ? ' for the whole order' : ''}`, async () => {
        const { outcome, steps } = rehearse(trip(exhausted), {}, whensOf[trouble]);
        const times = trouble === 'silent' ? 5 : trouble === 'takes 40' ? 20 : 1;
        assert.deepEqual(await real(exhausted, { 'train.ride': Array.from({ length: times }, () => trouble) }), {
          outcome,
          requested: steps.map(({ operation }) => operation),
        });
      });

  test('F-170: when the order is canceled while train.ride is running', async () => {
    const exhausted = { onExhausted: 'error' } as const;
    const { outcome, steps } = rehearse(trip(exhausted), {}, whensOf['takes 8'], instruct({ kind: 'cancel' }, { atSeconds: 5 }));
    assert.deepEqual(await real(exhausted, { 'train.ride': ['takes 8'] }, { cancelAfterMs: 5000 }), {
      outcome,
      requested: steps.map(({ operation }) => operation),
    });
  });
});
