import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  cel,
  check,
  close,
  defineActivity,
  defineLeafActivity,
  defineWorkflow,
  delay,
  type Expr,
  fault,
  parallel,
  RanTwice,
  raiseFault,
  retry,
  run,
  sequence,
  succeeded,
  waitFor,
} from 'redress';
import { given, rehearse } from 'redress/testing';
import * as z from 'zod';
import type { CoreFact } from '#core/data/journal';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { nodeAt, type Program, parentOf } from '#core/definition/program';
import { CardDeclined, customer, inventory, payment, Refused, shipping } from '../../examples/activities/agents.ts';
import { ensured } from '../../examples/activities/ensure.ts';
import { again } from '../../examples/activities/own/again.ts';
import { ensure } from '../../examples/activities/own/ensure.ts';
import { checkEffects, events, goWell, suffer, worldOf } from '../support/chaos.ts';
import { play } from '../support/play.ts';
import { startRun, stepMs } from '../support/run.ts';
import { definitionOf, roots } from '../support/shapes.ts';
import { step } from '../support/workflows.ts';

const order = { sku: 'tea', total: 40 };
const Order = z.object({ sku: z.string(), total: z.number() });
const release = inventory.release({ reservationId: 'r1' });

describe('an activity of the app: ensure(do, last)', () => {
  test('F-169: `last` runs after success and after a fault', () => {
    assert.equal(rehearse(ensured, order).story(), 'inventory.reserve ok, payment.charge ok, inventory.release ok, completed');
    assert.equal(
      rehearse(ensured, order, given(payment.charge).faults(CardDeclined)).story(),
      'inventory.reserve ok, payment.charge CardDeclined, inventory.release ok, customer.tell ok, completed',
    );
  });

  test('F-79, F-169: when a fault of a sibling cancels it, it begins no further activity, but cleans up before it closes', () => {
    const paid = waitFor('paid', z.object({}));
    const twoBranches = defineWorkflow('two-branches', { version: 1, order: Order }, ({ order }) =>
      sequence(
        parallel(ensure({}, { do: sequence(paid, shipping.ship(order)), last: release }), payment.charge({ amount: order.total })),
      ).on(Refused, ({ compensate }) => compensate()),
    );
    play(
      twoBranches,
      `
      start
      -> payment order/parallel/charge key order/parallel/charge/1 attempt 1 with {"amount":40}

      fault order/parallel/charge Refused/CardDeclined permanent
      -> inventory order/parallel/ensure/release key order/parallel/ensure/release/1 attempt 1 with {"reservationId":"r1"}

      signal paid {}

      ok order/parallel/ensure/release
      == rejected
    `,
      { order },
    );
  });

  test('F-78, F-97: in a retry, each run cleans up', () => {
    const again = defineWorkflow('again', { version: 1, order: Order, toOperator: [CardDeclined] }, ({ order }) =>
      retry(ensure({}, { do: payment.charge({ amount: order.total }), last: delay({ seconds: 5 }) }), { retries: 1, intervalSeconds: 20 }),
    );
    const run = rehearse(again, order, given(payment.charge).failsForNow(1));
    assert.equal(run.story(), 'payment.charge ServiceUnavailable, payment.charge ok, completed');
    assert.equal(run.tookMs, 30_000);
  });

  test('F-169: it is plain data in a definition, and is checked like a built-in activity', () => {
    const { root } = JSON.parse(JSON.stringify(ensured)) as WorkflowDefinition;
    assert.partialDeepStrictEqual(root, {
      children: [{ name: 'reserve' }, { activity: 'example:ensure', do: { name: 'charge' }, last: { name: 'release' } }],
    });
    const unknown = { ...ensured, root: { ...root, children: [{ activity: 'example:unsure', name: 'x' }] } } as WorkflowDefinition;
    assert.match(check(unknown)[0]?.message ?? '', /Unknown activity type "example:unsure"\. Did you mean "example:ensure"\?/);
  });

  test('F-169: in orders of any shape, with any events, every law of the language holds, and each `ensure` has cleaned up once', () => {
    fc.assert(
      fc.property(roots, events, (shape, happen) => {
        const definition = definitionOf(shape);
        const world = worldOf(startRun({ ...definition, root: withEnsure(definition.root) }));
        world.run.happen({ type: 'started', stepMs });
        suffer(world, happen);
        goWell(world);
        checkEffects(world);
        if (world.run.state.outcome !== 'terminated')
          checkCleanUps(
            world.run.program,
            world.run.turns.flatMap(({ facts }) => facts),
          );
      }),
      { numRuns: 400 },
    );
  });
});

describe('a retry activity that the app defines: again({ retries, seconds }, { do })', () => {
  const tried = defineWorkflow('tried', { version: 1, order: Order, toOperator: [Refused] }, ({ order }) =>
    again({ retries: 2, seconds: 10 }, { do: sequence(inventory.reserve({ sku: order.sku }), payment.charge({ amount: order.total })) }),
  );

  test('F-169, F-42, F-44: each run has new requests, completed steps are not requested again, and refused steps become new effects', () => {
    play(
      tried,
      `
      start
      -> inventory order/sequence/reserve key order/sequence/reserve/1 attempt 1 with {"sku":"tea"}

      ok order/sequence/reserve {"reservationId": "r1"}
      -> payment order/sequence/charge key order/sequence/charge/1 attempt 1 with {"amount":40}

      fault order/sequence/charge Busy transient
      .. wake at +10s

      after 10s
      -> payment order/sequence/charge key order/sequence/charge/1 attempt 2 with {"amount":40}

      # It answers the request of the run before: that answer is void.

      old 1 ok order/sequence/charge

      fault order/sequence/charge Busy transient
      .. wake at +20s

      after 20s
      -> payment order/sequence/charge key order/sequence/charge/1 attempt 3 with {"amount":40}

      ok order/sequence/charge
      == closed
    `,
      { order },
    );
  });

  test('F-169, F-93: it pauses longer each time, and makes no run after its last one', () => {
    const busy = rehearse(tried, order, given(payment.charge).failsForNow(2));
    assert.equal(
      busy.story(),
      'inventory.reserve ok, payment.charge ServiceUnavailable, payment.charge ServiceUnavailable, payment.charge ok, completed',
    );
    assert.equal(busy.tookMs, 30_000);
    assert.equal(rehearse(tried, order, given(payment.charge).faults(CardDeclined)).outcome, 'blocked');
  });

  test('F-169: the engine stops an activity that runs a part twice and has not declared this, and no effect happens under a used key', () => {
    const twice = defineActivity<object, { readonly runs: number }, 'do'>('example:twice', ['do'], {
      execute: (activity) => run([activity.do.name], { runs: 1 }),
      childClosed: (activity, { runs }) => (runs === 1 ? run([activity.do.name], { runs: 2 }) : close(succeeded())),
    });
    const doubled = defineWorkflow('doubled', { version: 1, order: Order }, ({ order }) =>
      twice({}, { do: payment.charge({ amount: order.total }) })
        .on(RanTwice, ({ fault }) => customer.tell({ text: fault.message }))
        .on(CardDeclined, () => customer.tell({ text: 'Declined.' })),
    );
    const { story, steps } = rehearse(doubled, order);
    assert.equal(story(), 'payment.charge ok, customer.tell ok, completed');
    assert.match(
      JSON.stringify(steps[1]?.input),
      /order runs ."charge." a second time, and example:twice does not declare that it may\. Set ."reruns: true/,
    );
  });
});

describe('a leaf activity of the app', () => {
  const TooMuch = fault('TooMuch');
  interface Limit {
    readonly total: Expr<number>;
    readonly most: number;
  }
  const limit = defineLeafActivity<Limit, never, 'TooMuch'>(
    'example:limit',
    {
      templates: ({ total }) => [total],
      execute({ total, most }, { evaluate }) {
        const found = evaluate(total);
        if (!found.ok) return raiseFault(found.fault);
        const isTooMuch = typeof found.value === 'number' && found.value > most;
        const message = `${found.value} is more than ${most}.`;
        return isTooMuch ? raiseFault({ type: TooMuch.path, class: 'expected', permanent: true, message }) : close(succeeded());
      },
    },
    { faults: [TooMuch] },
  );
  const limited = defineWorkflow('limited', { version: 1, order: Order }, ({ order }) =>
    sequence(limit({ total: order.total, most: 50 }), shipping.ship(order)).on(TooMuch, ({ fault }) =>
      customer.tell({ text: fault.message }),
    ),
  );

  test('F-169: it raises a fault that it declares, and reads its input', () => {
    assert.equal(rehearse(limited, order).story(), 'shipping.ship ok, completed');
    const { story, steps } = rehearse(limited, { ...order, total: 51 });
    assert.equal(story(), 'customer.tell ok, completed');
    assert.deepEqual(steps[0]?.input, { text: '51 is more than 50.' });
  });

  test('F-163: without a handler for its fault, the workflow does not compile', () => {
    // @ts-expect-error: TooMuch has no handler
    defineWorkflow('open', { version: 1, order: Order }, ({ order }) => sequence(limit({ total: order.total, most: 50 })));
    // @ts-expect-error: a text is not a total
    limit({ total: cel<string>`"5"`, most: 50 });
  });
});

/** Returns the same tree, with an `ensure` around each scope and each sequence in it. */
const withEnsure = (root: Activity): Activity =>
  JSON.parse(JSON.stringify(root), (_, value: Activity | null) => {
    if (value?.activity !== 'scope' && value?.activity !== 'sequence') return value;
    const { name } = value;
    return name === 'order' ? value : { activity: 'example:ensure', name: `ensure-${name}`, do: value, last: step(`last-${name}`) };
  }) as Activity;

/** F-78: from its start to its end, `last` has run once. */
function checkCleanUps(program: Program, facts: readonly CoreFact[]): void {
  const cleanUps = new Map<string, number>();
  for (const fact of facts) {
    const path = 'path' in fact ? (fact.path ?? '') : '';
    if (fact.type === 'ActivityStarted' && isEnsure(program, path)) cleanUps.set(path, 0);
    if (fact.type !== 'ActivityClosed') continue;
    const around = parentOf(path) ?? '';
    if (isLastOf(program, around, path)) cleanUps.set(around, (cleanUps.get(around) ?? 0) + 1);
    if (!isEnsure(program, path)) continue;
    assert.equal(cleanUps.get(path), 1, `${path} has cleaned up once`);
    cleanUps.delete(path);
  }
}

/** Its last activity may contain others of its kind, each with its own cleanup. */
const isLastOf = (program: Program, ensure: string, path: string): boolean => {
  if (!isEnsure(program, ensure)) return false;
  const { last } = nodeAt(program, ensure) as Activity & { readonly last?: Activity };
  return path === `${ensure}/${last?.name}`;
};

const isEnsure = (program: Program, path: string): boolean => path !== '' && nodeAt(program, path).activity === 'example:ensure';
