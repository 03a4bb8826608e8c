import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import {
  assign,
  compute,
  defineAgent,
  defineApp,
  defineRule,
  defineWorkflow,
  fault,
  greaterThan,
  operation,
  secret,
  sequence,
  variables,
} from 'redress';
import { type Moment, ReplayError, replay, startSystem, type TestInstruction } from 'redress/testing';
import * as z from 'zod';
import { temporaryFolder } from '../../support/folders.ts';

const Declined = fault('CardDeclined');
const card = 'tok_canary_4711';
const pin = 'pin-canary-9982';

const vars = variables<{ total: number }>();
let priced = 0;
const price = compute(
  'price',
  { version: 1, input: z.object({ quantity: z.int() }), output: z.object({ cents: z.int() }) },
  ({ quantity }) => {
    priced += 1;
    return { cents: quantity * 250 };
  },
);
const stock = defineAgent('stock', {
  reserve: operation({
    input: z.object({ sku: z.string() }),
    output: z.object({ id: z.string(), pin: secret(z.string()) }),
    run: () => ({ id: 'r-1', pin }),
  }),
  release: operation({ input: z.object({ id: z.string(), pin: secret(z.string()) }), output: z.object({}), run: () => ({}) }),
});
let bank: 'away' | 'open' = 'away';
const till = defineAgent('till', {
  charge: operation({
    input: z.object({ card: secret(z.string()), cents: z.int() }),
    output: z.object({ chargeId: z.string() }),
    faults: [Declined],
    run: (_, call) => (bank === 'away' ? call.failed(Declined, `The bank says no to ${card}.`) : { chargeId: 'c-1' }),
  }),
  tell: operation({ input: z.object({ chargeId: z.string() }), output: z.object({}), run: () => ({}) }),
});
const Order = z.object({ sku: z.string(), quantity: z.int(), card: secret(z.string()) });
const body = { sku: 'tea', quantity: 3, card };
const sold = (version: number, isPaidFirst = false) =>
  defineWorkflow('sold', { version, order: Order, toOperator: [Declined] }, ({ order }) => {
    const cost = price({ quantity: order.quantity });
    const reserve = stock.reserve({ sku: order.sku });
    const held = reserve.undo(({ id, pin }) => stock.release({ id, pin }));
    const noted = assign(vars.total, cost.output.cents);
    const charge = till.charge({ card: order.card, cents: cost.output.cents });
    const tell = till.tell({ chargeId: charge.output.chargeId }).noUndo();
    return isPaidFirst ? sequence(cost, noted, charge.noUndo(), held, tell) : sequence(cost, noted, held, charge.noUndo(), tell);
  });
const sold1 = sold(1);
const dear = defineRule('dear', {
  name: 'A total is 100,000 cents at most',
  workflow: sold1,
  event: { kind: 'data' },
  condition: ({ variables }) => greaterThan(variables<number>('total'), 100_000),
  action: { kind: 'suspend' },
  mode: 'enforce',
});
const app = defineApp({ workflows: [sold1], agents: [stock, till], rules: [dear] });

/** An order that the bank has declined, and how to export it. */
async function declined(context: TestContext) {
  bank = 'away';
  const system = await startSystem(app);
  context.after(() => system.stop());
  const token = await system.token({ role: 'operator', subject: 'olga' });
  const submitted = await system.submit(body);
  assert.ok(submitted.outcome === 'accepted');
  const { orderId } = submitted.order;
  await system.passTime(2_000);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const ask = async (path: string, asked?: object): Promise<any> => {
    const post = asked && { method: 'POST', body: JSON.stringify(asked) };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await system.fetch(`/orders/${orderId}${path}`, { ...post, headers })).json();
  };
  const exported = async (limit = 100) => {
    let { case: content, items: journal, next } = await ask(`/export?limit=${limit}`);
    for (; next !== null; ) {
      const page = await ask(`/export?limit=${limit}&cursor=${next}`);
      journal = [...journal, ...page.items];
      ({ next } = page);
    }
    return { ...content, journal };
  };
  const checked = ({ kind, ...given }: TestInstruction) => ask('/instructions', { kind, ...given, reason: 'a check', dryRun: true });
  return { ...system, orderId, exported, checked };
}

/** The instructions that a person might give to the declined order. */
const instructions: readonly TestInstruction[] = [
  { kind: 'resubmit' },
  { kind: 'skip', output: { chargeId: 'by hand' }, effect: 'done' },
  { kind: 'skip', output: { wrong: 1 }, effect: 'none' },
  { kind: 'replace-input', input: { card: '[secret]', cents: 1 } },
  { kind: 'resume-at', path: 'order/reserve', undoBetween: true },
  { kind: 'compensate' },
  { kind: 'restart', undoFirst: true },
  { kind: 'amend', variables: { total: 100_001 } },
  { kind: 'terminate' },
];

/** The parts of a check that do not depend on the size of the stored state. */
const comparable = ({ feasible, refusals, warnings, effects, then, graph }: Awaited<ReturnType<Moment['check']>>) => ({
  feasible,
  refusals,
  warnings,
  effects,
  then,
  graph,
});

describe('an order that is exported and replayed on another machine', () => {
  test('has the same journal and the same end, even if it was exported in pages', async (t) => {
    const { exported, history, orderId } = await declined(t);
    const run = replay(await exported(4));
    assert.equal(run.difference, undefined);
    assert.deepEqual(run.journal, JSON.parse(JSON.stringify(await history(orderId))));
    assert.deepEqual([run.end.processState, run.end.outcome], ['Error', null]);
    assert.match(run.end.why(), /CardDeclined/);
  });

  test('F-51: holds no secret of the order or of an answer, in no line and no state', async (t) => {
    const { exported } = await declined(t);
    const text = JSON.stringify(await exported());
    for (const hidden of [card, pin, Buffer.from(card).toString('base64')]) assert.ok(!text.includes(hidden), hidden);
    assert.ok(!/sealed:1:(?!secret-)/.test(text), 'an encrypted secret');
  });

  test('F-153: has the same check of an instruction at its last moment as in the system', async (t) => {
    const { exported, checked } = await declined(t);
    const { end } = replay(await exported());
    for (const instruction of instructions)
      assert.deepEqual(comparable(await end.check(instruction)), comparable(await checked(instruction)), instruction.kind);
  });

  test('has the same check of an instruction at a past moment as the system gave then', async (t) => {
    const { exported, checked, history, instruct, orderId, passTime, state } = await declined(t);
    const then = await Promise.all(instructions.map(checked));
    const { seq } = (await history(orderId)).at(-1) ?? assert.fail();
    bank = 'open';
    await instruct(orderId, { kind: 'resubmit' });
    await passTime(2_000);
    assert.equal((await state(orderId)).outcome, 'completed');
    const run = replay(await exported());
    assert.deepEqual([run.difference, run.end.outcome], [undefined, 'completed']);
    const past = run.at(seq);
    assert.equal(past.processState, 'Error');
    for (const [index, instruction] of instructions.entries())
      assert.deepEqual(comparable(await past.check(instruction)), comparable(then[index]), instruction.kind);
    const late = await run.end.check({ kind: 'resubmit' });
    assert.deepEqual([late.feasible, late.refusals[0]?.code], [false, 'finished']);
  });

  test('calls the functions of the app, where a debugger can stop, and shows the order after each event', async (t) => {
    const { exported } = await declined(t);
    const content = await exported();
    const seen: string[] = [];
    priced = 0;
    const run = replay(content, { onMoment: ({ processState, lines }) => seen.push(`${processState} ${lines[0]?.type}`) });
    assert.deepEqual([priced, seen.length], [1, run.moments.length]);
    assert.deepEqual([seen[0], seen.at(-1)], ['Pending OrderSubmitted', `Error ${run.end.lines[0]?.type}`]);
    assert.deepEqual(run.at(new Date(run.end.at)), run.end);
  });

  test('shows the first journal line that another version of its workflow would not have written', async (t) => {
    const { exported } = await declined(t);
    const content = await exported();
    assert.equal(replay(content, { workflow: sold(2) }).difference, undefined);
    const { difference, end } = replay(content, { workflow: sold(2, true) });
    assert.match(difference ?? '', /^Line \d+ of the journal \(.*\) does not follow from the lines before it\. Expected .*order\/charge/);
    assert.deepEqual([end.processState, end.lines[0]?.type], ['Processing', 'OrderClaimed']);
  });
});

test('a file that is not a case is refused with the wrong field and the command that exports a case', () => {
  const export1 = /redress order export ID > case\.json$/;
  for (const [given, place] of [
    ['text', /^Expected the parsed content/],
    [{ v: 9 }, /^v: expected a case of version 1, got 9/],
    [{ v: 1, order: {} }, /^head: expected an object/],
    [{ v: 1, order: {}, head: {}, definition: {}, journal: [] }, /^journal: expected the lines/],
  ] as const)
    assert.throws(
      () => replay(given),
      (error) => error instanceof ReplayError && place.test(error.message) && export1.test(error.message),
    );
});

test('the guide: a case from a file is replayed, and an instruction is checked at its end', async (context) => {
  const { exported } = await declined(context);
  const folder = temporaryFolder();
  const before = process.cwd();
  process.chdir(folder.path);
  context.after(() => {
    process.chdir(before);
    folder.remove();
  });
  context.mock.method(console, 'log', () => undefined);
  writeFileSync('case.json', JSON.stringify(await exported()));

  const run = replay(JSON.parse(readFileSync('case.json', 'utf8')));
  assert.equal(run.difference, undefined);
  assert.equal(run.end.processState, 'Error');
  console.log(run.end.why());

  const check = await run.at(13).check({ kind: 'skip', output: { chargeId: 'by hand' }, effect: 'done' });
  assert.equal(check.feasible, true);
  console.log(check.effects.undoes, check.then);
});
