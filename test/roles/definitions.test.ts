import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  type App,
  cel,
  DefinitionError,
  defineAgent,
  defineApp,
  defineWorkflow,
  delay,
  type Expr,
  operation,
  sequence,
  type WorkflowDefinition,
} from 'redress';
import * as z from 'zod';
import { catalogOf, catalogOfApp } from '#authoring/catalog';
import { calledIn, operationsOf } from '#authoring/workflow';
import { check } from '#core/checks/check';
import { SetupError } from '#ports/errors';
import { loadDefinitions } from '#roles/definitions/load';
import { CardDeclined, customer, payment as paying } from '../../examples/activities/agents.ts';
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { sequence as sequenceOf, step, workflow } from '../support/workflows.ts';

const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ card: z.string(), amount: z.number() }),
    output: z.object({ chargeId: z.string() }),
    run: () => ({ chargeId: 'c1' }),
  }),
});
const order = z.toJSONSchema(z.object({ card: z.string(), total: z.number() })) as WorkflowDefinition['order'];
const charging = (input: object) => step('charge', { agent: 'payment', operation: 'charge', input: input as WorkflowDefinition['order'] });
const right = charging({ card: { $cel: 'order.card' }, amount: { $cel: 'order.total' } });
const appOf = (...workflows: WorkflowDefinition[]): App => defineApp({ workflows, agents: [payment] });

describe('an app with hand-written workflows', () => {
  test('an unknown agent, an unknown operation and a misspelled field in two workflows are reported in one error', () => {
    const one = sequenceOf('', charging({ card: 'c', amount: { $cel: 'order.totl' } }), step('ask', { agent: 'paymnt' }));
    const other = sequenceOf('', step('pay', { agent: 'payment', operation: 'chrge' }), right);
    const load = () => loadDefinitions(appOf(workflow(one, { name: 'one', order }), workflow(other, { name: 'other', order })));
    assert.throws(load, (error: unknown) => {
      assert.ok(error instanceof SetupError);
      assert.deepEqual(error.message.split('\n'), [
        'Workflows cannot be loaded:',
        'one@1 order/charge: /amount: order has no field "totl". Did you mean "total"?',
        '  order.totl',
        '        ^',
        'one@1 order/ask: The app has no agent "paymnt". Did you mean "payment"?',
        'other@1 order/pay: The agent "payment" has no operation "chrge". Did you mean "charge"?',
      ]);
      return true;
    });
  });

  test('two workflows with the same name and version are reported with the other errors', () => {
    const load = () => loadDefinitions(appOf(workflow(right, { order }), workflow(charging({ card: 'c' }), { order })));
    assert.throws(load, /story@1 order: \/amount: missing; payment\.charge expects a number\.\nTwo workflows are called story@1\. /);
  });

  test('X-36, S20: a conflict between current schemas and a version that only old orders need is a warning; in the newest version it is an error', () => {
    const asOnce = workflow(charging({ card: 'c', amount: 'all of it' }), { order });
    const now = { ...workflow(right, { order }), version: asOnce.version + 1 };
    const { warnings, program, newest } = loadDefinitions(appOf(asOnce, now));
    assert.deepEqual(
      warnings.filter((text) => text.includes('amount')),
      ['story@1, order: /amount: Expected a number, got "all of it".'],
    );
    assert.deepEqual([program('story', 1)?.definition.version, newest('story')?.definition.version], [1, 2]);
    assert.throws(() => loadDefinitions(appOf(now, { ...asOnce, version: now.version + 1 })), /story@3 order: \/amount: Expected a number/);
  });

  test('X-36: a removed agent or operation also prevents loading an old version', () => {
    const asOnce = workflow(step('refund', { agent: 'payment', operation: 'refund' }), { order });
    const load = () => loadDefinitions(appOf(asOnce, { ...workflow(right, { order }), version: asOnce.version + 1 }));
    assert.throws(load, /story@1 order: The agent "payment" has no operation "refund"/);
  });

  test('a correct app loads', () => {
    assert.deepEqual(loadDefinitions(appOf(workflow(right, { order }))).names(), ['story']);
  });
});

test('a workflow written with typed functions is checked against the schemas of the operations that it requests', () => {
  const wrong = () =>
    defineWorkflow('wrong', { version: 1, order: z.object({ card: z.string() }) }, ({ order }) =>
      payment.charge({ card: 'c', amount: order.card as unknown as Expr<number> }),
    );
  assert.throws(wrong, (error: unknown) => {
    assert.ok(error instanceof DefinitionError);
    assert.match(
      error.message,
      /^wrong@1 order\/charge: \/amount: Expected a number, got a string\.\n {2}order\.card\n {2}\^\n {2}at test\/roles\/definitions\.test\.ts:\d+:15$/,
    );
    return true;
  });
});

test('F-115: each batch size that SQS does not support is refused, with its channel and the allowed values', () => {
  const channels = { payment: { batchSize: 11 }, submissions: { batchSize: 10 }, 'wake-ups': { batchSize: 0.5 } };
  assert.throws(
    () => defineApp({ workflows: [], agents: [payment], channels }),
    (error: unknown) => {
      assert.ok(error instanceof DefinitionError);
      const expected = 'expected a whole number from 1 to 10';
      assert.equal(error.message, `channels.payment.batchSize: ${expected}, got 11.\nchannels.wake-ups.batchSize: ${expected}, got 0.5.`);
      return true;
    },
  );
});

test('the error messages in docs/guides/writing-workflows.md are the real ones', () => {
  const anything = z.object({ total: z.number(), name: z.string(), kind: z.enum(['gift', 'purchase']) });
  const late = () =>
    defineWorkflow('late', { version: 1, order: anything, toOperator: [CardDeclined] }, ({ order }) =>
      sequence(
        paying.charge({ amount: cel<number>`order.totl * 2` }),
        delay({ seconds: order.name as unknown as Expr<number> }),
        customer.tell({ text: cel<string>`order.kind == "purchas" ? "Thank you" : "For you"` }).named('thank'),
      ),
    );
  const docs = readFileSync(new URL('../../docs/guides/writing-workflows.md', import.meta.url), 'utf8');
  const placed = ({ message }: Error) =>
    message.replaceAll('test/roles/definitions.test.ts', 'workflow.ts').replaceAll(/ts:\d+:\d+/g, 'ts:…');
  const shown = docs.replaceAll(/ts:\d+:\d+/g, 'ts:…');
  assert.throws(late, (error: Error) => shown.includes(`\n${placed(error)}\n`));
});

test('the examples contain no conflict with the types of their schemas', async () => {
  const folder = new URL('../../examples/activities/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const modules = files.map(async (file) => Object.values((await import(new URL(file, folder).href)) as object));
  const isDefinition = (value: unknown): value is WorkflowDefinition =>
    typeof value === 'object' && value !== null && 'exprVersion' in value;
  const workflows = [fulfilOrder, ...(await Promise.all(modules)).flat().filter(isDefinition)];
  const shown = workflows.flatMap((definition) =>
    check(definition, catalogOf({ operations: operationsOf(definition), called: calledIn(definition) })),
  );
  assert.ok(workflows.length > 10);
  assert.deepEqual([...new Set(shown.map(({ message }) => message.split(',')[0]))], ['This step has no undo']);
});

test('an input that its agent transforms before validation may have any form', () => {
  const input = z.object({
    coerced: z.coerce.number(),
    caught: z.string().catch('none'),
    first: z.preprocess(String, z.string()),
    day: z.codec(z.string(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }),
  });
  const lenient = defineAgent('lenient', { take: operation({ input, output: z.object({}), run: () => ({}) }) });
  const catalog = catalogOfApp(defineApp({ workflows: [], agents: [lenient] }));
  const inputOf = (day: string | number) => ({ coerced: '1', caught: 2, first: 3, day });
  const checked = (input: ReturnType<typeof inputOf>) => check(workflow(step('take', { agent: 'lenient', input })), catalog);
  assert.deepEqual(checked(inputOf('2026-01-01')), []);
  assert.deepEqual(
    checked(inputOf(5)).map(({ message }) => message),
    ['/day: Expected a string, got 5.'],
  );
});
