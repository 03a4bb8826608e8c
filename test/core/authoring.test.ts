import assert from 'node:assert/strict';
import test from 'node:test';
import {
  cel,
  check,
  DefinitionError,
  defineAgent,
  defineWorkflow,
  delay,
  type Expr,
  fault,
  operation,
  parallel,
  type Ref,
  secret,
  sequence,
  sum,
  text,
} from 'redress';
import * as z from 'zod';
import { celOf, expression } from '../../lib/authoring/expression.ts';
import { parseExpression } from '../../lib/core/expression.ts';
import { throughJson } from '../support/workflows.ts';

const Refused = fault('Refused');
const CardDeclined = fault('CardDeclined', Refused);
const Order = z.object({
  items: z.array(z.object({ quantity: z.int(), unitPrice: z.int() })),
  city: z.string(),
  card: secret(z.string()),
  note: z.string().optional(),
});
const run = (): never => assert.fail('nothing runs while a workflow is written down');

const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ amount: z.number() }),
    output: z.object({ chargeId: z.string(), token: secret(z.string()) }),
    faults: [CardDeclined],
    completeWithinSeconds: 20,
    longestSeconds: 60,
    run,
  }),
  'look-up': operation({ input: z.object({ chargeId: z.string() }), output: z.object({ 'found-at': z.string(), in: z.string() }), run }),
});
const customer = defineAgent('customer', { tell: operation({ input: z.object({ text: z.string() }), output: z.object({}), run }) });

const define = (build: Parameters<typeof defineWorkflow<typeof Order, 'Refused/CardDeclined', 'Refused'>>[2]) =>
  defineWorkflow('story', { version: 1, order: Order, toOperator: [Refused] }, build);

test('a workflow becomes plain data: what the functions leave behind is all there is', () => {
  const definition = defineWorkflow(
    'story',
    { version: 3, order: Order, toOperator: [Refused], completeWithinSeconds: 600, recover: 'order', maxFailures: 5, onExhausted: 'wait' },
    ({ order, orderId }) => {
      const charge = payment.charge({ amount: sum(order.items, (item) => cel`${item.quantity} * ${item.unitPrice}`) });
      return sequence(
        charge,
        parallel(payment['look-up']({ chargeId: charge.output.chargeId }), delay({ seconds: 5 })),
        customer.tell({ text: text`Order ${orderId} is paid.` }),
      );
    },
  );
  const step = (name: string, agent: string, input: object, more: object = {}) => ({
    activity: 'step',
    name,
    agent,
    operation: name,
    input,
    ...more,
  });
  const { order, ...rest } = definition;
  assert.deepEqual(rest, {
    name: 'story',
    version: 3,
    completeWithinSeconds: 600,
    recover: 'order',
    maxFailures: 5,
    onExhausted: 'wait',
    exprVersion: 1,
    toOperator: ['Refused'],
    root: {
      activity: 'sequence',
      name: 'order',
      children: [
        step(
          'charge',
          'payment',
          { amount: { $cel: 'sum(order.items.map(item, item.quantity * item.unitPrice))' } },
          { faults: ['Refused/CardDeclined'], completeWithinSeconds: 20, longestSeconds: 60, secretOutput: ['/token'] },
        ),
        {
          activity: 'parallel',
          name: 'parallel',
          children: [
            step('look-up', 'payment', { chargeId: { $cel: 'steps.charge.chargeId' } }),
            { activity: 'delay', name: 'delay', seconds: 5 },
          ],
        },
        step('tell', 'customer', { text: { $cel: '"Order " + string(orderId) + " is paid."' } }),
      ],
    },
  });
  assert.equal((order['properties'] as { card: { secret: boolean } }).card.secret, true);
  assert.deepEqual(throughJson(definition), definition);
  assert.deepEqual(check(definition), []);
});

test('composites and waits number themselves among their siblings; steps are named by their operation, or by hand', () => {
  const tell = () => customer.tell({ text: 'x' });
  const { root } = define(() =>
    sequence(
      sequence(),
      parallel(),
      sequence(),
      delay({ seconds: 1 }),
      tell(),
      sequence(),
      delay({ seconds: 2 }),
      tell().named('again'),
      parallel(tell()),
    ),
  );
  const names = (root as unknown as { children: { name: string }[] }).children.map(({ name }) => name);
  assert.deepEqual(names, ['sequence', 'parallel', 'sequence-2', 'delay', 'tell', 'sequence-3', 'delay-2', 'again', 'parallel-2']);
});

test('the output of a step is read under the name that the step has in the end', () => {
  const first = payment.charge({ amount: 1 }).named('deposit');
  const second = payment.charge({ amount: 2 }).named('rest-of-it');
  const { root } = define(() => sequence(first, second, customer.tell({ text: text`${first.output.chargeId} ${second.output.chargeId}` })));
  const [, , tell] = (root as unknown as { children: [object, object, { input: object }] }).children;
  assert.deepEqual(tell.input, { text: { $cel: 'string(steps.deposit.chargeId) + " " + string(steps["rest-of-it"].chargeId)' } });
});

test('a step with a name of two words can be read by a later one', () => {
  const lookUp = payment['look-up']({ chargeId: 'c1' });
  const definition = define(() =>
    sequence(lookUp, customer.tell({ text: lookUp.output['found-at'] }), customer.tell({ text: lookUp.output.in }).named('tell-again')),
  );
  assert.deepEqual(check(definition), []);
});

const recorded = expression<{ [field: string]: never }>('order') as Ref<{ [field: string]: { [field: string]: string } }>;
const field = (...names: string[]): string =>
  celOf(names.reduce<unknown>((path, name) => (path as { [field: string]: unknown })[name], recorded));

test('a path records every field, in brackets where CEL needs them, and the expression reads that very field', () => {
  const paths: readonly (readonly [string[], string])[] = [
    [['city'], 'order.city'],
    [['address', 'city'], 'order.address.city'],
    [['first-line'], 'order["first-line"]'],
    [['1st'], 'order["1st"]'],
    [['a b'], 'order["a b"]'],
    [['"quoted"'], 'order["\\"quoted\\""]'],
    [['back\\slash'], 'order["back\\\\slash"]'],
    [['Größe'], 'order["Größe"]'],
    [['_private'], 'order._private'],
    [['in'], 'order["in"]'],
    [['true', 'null'], 'order["true"]["null"]'],
    [['for'], 'order.for'],
  ];
  for (const [names, expected] of paths) {
    assert.equal(field(...names), expected);
    const parsed = parseExpression(expected);
    assert.ok(parsed.ok, expected);
    const order = names.reduceRight<unknown>((inside, name) => ({ [name]: inside }), 'here');
    assert.deepEqual(
      parsed.expression.evaluate({ orderId: 'o1', order: order as never, steps: {} }),
      { ok: true, value: 'here' },
      expected,
    );
  }
});

test('a text keeps whatever is written in it, and its holes are filled', () => {
  const name = expression<string>('order.name') as Expr<string>;
  const texts: readonly (readonly [Expr<string>, string])[] = [
    [text`plain`, 'plain'],
    [text``, ''],
    [text`${name}`, 'Ada'],
    [text`${name}${name}`, 'AdaAda'],
    [text`Dear ${name}, "quoted" \\ 'single' ${name}!`, 'Dear Ada, "quoted" \\ \'single\' Ada!'],
    [
      text`two
lines\tand a tab`,
      'two\nlines\tand a tab',
    ],
    [
      text`sum ${cel<number>`1 + ${expression<number>('order.n') as Expr<number>}`} and {braces} \${dollar} 😀 \u2028`,
      `sum 3 and {braces} \${dollar} 😀 \u2028`,
    ],
  ];
  for (const [written, expected] of texts) {
    const parsed = parseExpression(celOf(written));
    assert.ok(parsed.ok, celOf(written));
    assert.deepEqual(parsed.expression.evaluate({ orderId: 'o1', order: { name: 'Ada', n: 2 }, steps: {} }), { ok: true, value: expected });
  }
});

test('holes in CEL keep their precedence, and sums go over lists of any path', () => {
  const a = cel<number>`${expression<number>('order.a') as Expr<number>} + 1.0`;
  assert.equal(celOf(cel`${a} * ${a}`), '(order.a + 1.0) * (order.a + 1.0)');
  const list = expression<{ price: number }[]>('order["my list"]') as unknown as Expr<readonly { price: number }[]>;
  assert.equal(celOf(sum(list, (item) => item.price)), 'sum((order["my list"]).map(item, item.price))');
});

test('what is no expression and no activity is refused at once, with what is wanted', () => {
  assert.throws(() => cel`${5 as unknown as Expr<number>} + 1`, /An expression is wanted here.*not 5/);
  assert.throws(() => text`${undefined as unknown as Expr<string>}`, /An expression is wanted here/);
  assert.throws(() => sequence({} as never), /An activity is wanted here/);
  assert.throws(() => defineAgent('Payment', {}), /"Payment" is no name for an agent/);
  assert.throws(() => fault('cardDeclined'), /"cardDeclined" is no name for a fault/);
});

test('a definition that cannot be loaded names every problem with its place', () => {
  const twice = () => define(() => sequence(customer.tell({ text: 'a' }), customer.tell({ text: cel`order.city +` })));
  assert.throws(twice, (error: unknown) => {
    assert.ok(error instanceof DefinitionError);
    assert.match(error.message, /story@1 order\/tell: Two activities have this path/);
    assert.match(error.message, /story@1 order\/tell: \/text: Unexpected token: EOF/);
    return true;
  });
});

test('a fault says what it is a kind of', () => {
  assert.deepEqual(
    [Refused, CardDeclined].map(({ name, path }) => [name, path]),
    [
      ['Refused', 'Refused'],
      ['CardDeclined', 'Refused/CardDeclined'],
    ],
  );
});
