import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Activity,
  and,
  assign,
  atLeast,
  atMost,
  cel,
  check,
  choice,
  compensate,
  DeadlineExceeded,
  DefinitionError,
  defineAgent,
  defineWorkflow,
  delay,
  EngineFault,
  type Expr,
  equals,
  fault,
  forEach,
  greaterThan,
  has,
  ifTrue,
  lessThan,
  not,
  operation,
  or,
  orElse,
  otherwise,
  parallel,
  type Ref,
  raise,
  repeatWhile,
  retry,
  scope,
  secret,
  sequence,
  sum,
  terminate,
  text,
  variable,
  variables,
  when,
} from 'redress';
import * as z from 'zod';
import { celOf, expression } from '#authoring/expression';
import type { Step } from '#core/activities/step';
import { parseExpression } from '#core/definition/expression';
import { play } from '../support/play.ts';
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

test('a workflow becomes plain data, without any trace of the functions that wrote it', () => {
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

test('a step can declare that it has nothing to undo, whatever its name', () => {
  const tell = customer.tell({ text: 'x' }).noUndo().named('letter');
  assert.deepEqual(throughJson(tell), {
    activity: 'step',
    name: 'letter',
    agent: 'customer',
    operation: 'tell',
    input: { text: 'x' },
    noUndo: true,
  });
});

test('composites and waits are numbered among their siblings; a step is named after its operation, or by its author', () => {
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

test("the output of a step is read under the step's final name", () => {
  const first = payment.charge({ amount: 1 }).named('deposit');
  const second = payment.charge({ amount: 2 }).named('rest-of-it');
  const { root } = define(() => sequence(first, second, customer.tell({ text: text`${first.output.chargeId} ${second.output.chargeId}` })));
  const [, , tell] = (root as unknown as { children: [object, object, { input: object }] }).children;
  assert.deepEqual(tell.input, { text: { $cel: 'string(steps.deposit.chargeId) + " " + string(steps["rest-of-it"].chargeId)' } });
});

test('a later step can read a step whose name has two words', () => {
  const lookUp = payment['look-up']({ chargeId: 'c1' });
  const definition = define(() =>
    sequence(lookUp, customer.tell({ text: lookUp.output['found-at'] }), customer.tell({ text: lookUp.output.in }).named('tell-again')),
  );
  assert.deepEqual(check(definition), []);
});

const recorded = expression<{ [field: string]: never }>('order') as Ref<{ [field: string]: { [field: string]: string } }>;
const field = (...names: string[]): string =>
  celOf(names.reduce<unknown>((path, name) => (path as { [field: string]: unknown })[name], recorded));

test('a path records every field, in brackets if CEL needs them, and the expression reads exactly that field', () => {
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

test('a text keeps every character, and its placeholders are filled', () => {
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

test('placeholders in CEL keep their precedence, and sums accept lists of any path', () => {
  const a = cel<number>`${expression<number>('order.a') as Expr<number>} + 1.0`;
  assert.equal(celOf(cel`${a} * ${a}`), '(order.a + 1.0) * (order.a + 1.0)');
  const list = expression<{ price: number }[]>('order["my list"]') as unknown as Expr<readonly { price: number }[]>;
  assert.equal(celOf(sum(list, (item) => item.price)), 'sum((order["my list"]).map(item, item.price))');
});

test('a value that is neither an expression nor an activity is refused at once, and the message names what is expected', () => {
  assert.throws(() => cel`${5 as unknown as Expr<number>} + 1`, /Expected an expression.*got 5/);
  assert.throws(() => text`${undefined as unknown as Expr<string>}`, /Expected an expression/);
  assert.throws(() => sequence({} as never), /Expected an activity/);
  assert.throws(() => defineAgent('Payment', {}), /Invalid agent name "Payment"/);
  assert.throws(() => fault('cardDeclined'), /Invalid fault name "cardDeclined"/);
});

test('a definition that cannot be loaded reports every problem with its place', () => {
  const twice = () => define(() => sequence(customer.tell({ text: 'a' }), customer.tell({ text: cel`order.city +` })));
  assert.throws(twice, (error: unknown) => {
    assert.ok(error instanceof DefinitionError);
    assert.match(error.message, /story@1 order\/tell: Two activities have this path/);
    assert.match(error.message, /story@1 order\/tell: \/text: Unexpected token: EOF/);
    return true;
  });
});

test('a fault names its supertype', () => {
  assert.deepEqual(
    [Refused, CardDeclined].map(({ name, path }) => [name, path]),
    [
      ['Refused', 'Refused'],
      ['CardDeclined', 'Refused/CardDeclined'],
    ],
  );
});

type Context = Parameters<Parameters<typeof define>[0]>[0];
interface Node {
  readonly name: string;
  readonly activity: string;
  readonly do: Node;
  readonly children: readonly Node[];
  readonly input: object;
  readonly undo: Node;
  readonly faultHandlers: readonly { readonly fault: string; readonly do: Node }[];
}

/** A finished workflow: plain data, with no problems. */
function rootOf<F extends string>(build: (context: Context) => Activity<F>): Node {
  const definition = define(build as Parameters<typeof define>[0]);
  assert.deepEqual(throughJson(definition), definition);
  return definition.root as unknown as Node;
}
const charge = () => payment.charge({ amount: 1 });
const tell = (name: string) => customer.tell({ text: 'x' }).named(name);

test("an undo reads the output of the step that it undoes, under that step's final name", () => {
  const charged = charge().undo(({ chargeId }) => payment['look-up']({ chargeId }).named('back'));
  const first = charged.named('first');
  const second = first.named('second-one');
  const { children } = rootOf(() => sequence(charged, first, second, customer.tell({ text: second.output.chargeId })));
  const undo = (chargeId: string) => ({
    activity: 'step',
    name: 'undo',
    agent: 'payment',
    operation: 'look-up',
    input: { chargeId: { $cel: chargeId } },
  });
  assert.deepEqual(
    children.slice(0, 3).map((step) => step.undo),
    [undo('steps.charge.chargeId'), undo('steps.first.chargeId'), undo('steps["second-one"].chargeId')],
  );
});

test('F-69: handlers are recorded in their order, each as one activity with a name unique among its siblings', () => {
  const { faultHandlers } = rootOf(() =>
    sequence(charge())
      .on(CardDeclined, ({ fault }) => customer.tell({ text: text`${fault.type} at ${fault.source}: ${fault.message}` }))
      .on(DeadlineExceeded, () => scope('late', tell('tell-late')))
      .on(EngineFault, () => sequence(tell('odd')).named('engine')),
  );
  assert.deepEqual(
    faultHandlers.map(({ fault, do: { activity, name } }) => [fault, activity, name]),
    [
      ['Refused/CardDeclined', 'sequence', 'on-CardDeclined'],
      ['Engine/DeadlineExceeded', 'scope', 'late'],
      ['Engine', 'sequence', 'engine'],
    ],
  );
  assert.deepEqual(faultHandlers[0]?.do.children[0]?.input, {
    text: { $cel: 'string(fault.type) + " at " + string(fault.source) + ": " + string(fault.message)' },
  });
});

test('X-20: a step declares whether it runs at most once, and whether its agent can look up an effect', () => {
  const input = z.object({});
  const bank = defineAgent('bank', {
    pay: operation({ input, output: input, atMostOnce: true, lookup: () => undefined, run }),
    tell: operation({ input, output: input, run }),
  });
  const { root } = defineWorkflow('story', { version: 1, order: Order }, () => sequence(bank.pay({}), bank.tell({})));
  const [pay, tell] = (root as unknown as { readonly children: readonly Step[] }).children;
  assert.deepEqual([pay?.atMostOnce, pay?.lookup, tell?.atMostOnce, tell?.lookup], [true, true, undefined, undefined]);
});

test("an operation cannot declare a fault named like one of the engine's, whatever its supertype", () => {
  const input = z.object({});
  for (const declared of [fault('OutcomeUnknown'), fault('ServiceUnavailable', Refused)])
    assert.throws(
      () => defineAgent('bank', { pay: operation({ input, output: input, faults: [declared], run }) }),
      new RegExp(`bank\\.pay declares a fault named ${declared.name}, which is one of the engine's own\\. .*choose another name`),
    );
});

test('two faults with the same name get handlers with different names', () => {
  const one = fault('Late', fault('Train'));
  const other = fault('Late', fault('Bus'));
  const { faultHandlers } = rootOf(() =>
    parallel(raise(one, 'x'), raise(other, 'y'))
      .on(one, ({ compensate }) => compensate())
      .on(other, ({ compensate }) => sequence(compensate())),
  );
  const body = (name: string) => ({ activity: 'sequence', name, children: [{ activity: 'compensate', name: 'compensate' }] });
  assert.deepEqual(faultHandlers, [
    { fault: 'Train/Late', do: body('on-Late') },
    { fault: 'Bus/Late', do: body('on-Bus-Late') },
  ]);
});

test('a retry, a scope, a choice and a single activity are recorded in the form that the engine reads', () => {
  const Fraud = fault('Fraud', Refused);
  const { children } = rootOf(({ order }) =>
    sequence(
      retry(charge(), { retries: 3, intervalSeconds: 20, except: [CardDeclined], evenPermanent: true, undoFirst: true }),
      scope('paid', sequence()),
      choice(
        when(cel<boolean>`${order.city} == "Bonn"`, sequence()),
        when(cel<boolean>`${order.city} == "Kiel"`, sequence(delay({ seconds: 1 }))),
        otherwise(tell('elsewhere')),
      ),
      choice(when(cel<boolean>`${order.city} == "Ulm"`, raise(Fraud, text`in ${order.city}`, { city: order.city, grade: 3 }))).named('odd'),
      compensate('paid'),
      retry(tell('told'), { retries: 1, intervalSeconds: 0, only: [CardDeclined, Fraud] }).named('after-a-no'),
      terminate(),
    ),
  );
  const { do: inRetry, ...retried } = children[0] as Node;
  assert.deepEqual(retried, {
    activity: 'retry',
    name: 'retry',
    retries: 3,
    intervalSeconds: 20,
    evenPermanent: true,
    undoFirst: true,
    except: ['Refused/CardDeclined'],
  });
  assert.equal(inRetry.name, 'charge');
  const raised = {
    activity: 'raise',
    name: 'raise',
    fault: 'Refused/Fraud',
    message: { $cel: '"in " + string(order.city)' },
    data: { city: { $cel: 'order.city' }, grade: 3 },
  };
  assert.deepEqual(children.slice(1), [
    { activity: 'scope', name: 'paid', do: { activity: 'sequence', name: 'sequence', children: [] } },
    {
      activity: 'choice',
      name: 'choice',
      branches: [
        { when: { $cel: 'order.city == "Bonn"' }, do: { activity: 'sequence', name: 'sequence', children: [] } },
        {
          when: { $cel: 'order.city == "Kiel"' },
          do: { activity: 'sequence', name: 'sequence-2', children: [{ activity: 'delay', name: 'delay', seconds: 1 }] },
        },
      ],
      otherwise: { activity: 'step', name: 'elsewhere', agent: 'customer', operation: 'tell', input: { text: 'x' } },
    },
    { activity: 'choice', name: 'odd', branches: [{ when: { $cel: 'order.city == "Ulm"' }, do: raised }] },
    { activity: 'compensate', name: 'compensate', scope: 'paid' },
    {
      activity: 'retry',
      name: 'after-a-no',
      retries: 1,
      intervalSeconds: 0,
      only: ['Refused/CardDeclined', 'Refused/Fraud'],
      do: { activity: 'step', name: 'told', agent: 'customer', operation: 'tell', input: { text: 'x' } },
    },
    { activity: 'terminate', name: 'terminate' },
  ]);
});

type Item = { readonly quantity: number; readonly unitPrice: number };

test('F-84: the entry of a forEach is read under the name of the forEach, whatever that name is', () => {
  const turn = (item: Ref<Item>, index: Expr<number>, name: string) =>
    customer.tell({ text: text`${index}: ${item.quantity}` }).named(name);
  const { children } = rootOf(({ order }) =>
    sequence(
      forEach(order.items, (item, index) => turn(item, index, 'a')),
      forEach(order.items, (item, index) => turn(item, index, 'b'), { maxConcurrency: 2 }).named('in-turn'),
      forEach(cel<Item[]>`${order.items}.filter(i, i.quantity > 1.0)`, (item, index) => ({
        do: turn(item, index, 'c'),
        until: cel<boolean>`${index} > 3.0`,
      })),
    ),
  );
  const input = (each: string) => ({ text: { $cel: `string(${each}.index) + ": " + string(${each}.item.quantity)` } });
  assert.deepEqual(
    children.map(({ name, do: step }) => [name, step.input]),
    [
      ['items', input('each.items')],
      ['in-turn', input('each["in-turn"]')],
      ['each', input('each.each')],
    ],
  );
  assert.partialDeepStrictEqual(children[1], { activity: 'forEach', list: { $cel: 'order.items' }, maxConcurrency: 2 });
  assert.partialDeepStrictEqual(children[2], { until: { $cel: 'each.each.index > 3.0' } });
});

test('F-84: the list that a loop collects is read under the name of the loop; a literal list may contain expressions', () => {
  const { children } = rootOf(({ order }) => {
    const turn = (name: Ref<string>) => ({ do: tell('told'), collect: { name, length: cel<number>`size(${name})` } });
    const loop = forEach(['Ulm', order.city], turn).named('cities');
    return sequence(
      loop,
      customer.tell({ text: cel<string>`${loop.output}[0].name` }),
      forEach([1, 2], () => tell('again')),
    );
  });
  assert.partialDeepStrictEqual(children, [
    {
      name: 'cities',
      list: ['Ulm', { $cel: 'order.city' }],
      collect: { name: { $cel: 'each.cities.item' }, length: { $cel: 'size(each.cities.item)' } },
    },
    { input: { text: { $cel: 'steps.cities[0].name' } } },
    { name: 'each', list: [1, 2] },
  ]);
  assert.ok(!('collect' in (children[2] ?? {})));
});

test('a workflow gives a default for an optional field, and for the output of a step that may not have run', () => {
  const lookUp = payment['look-up']({ chargeId: 'c1' });
  const { children } = rootOf(({ order }) =>
    sequence(
      repeatWhile(cel<boolean>`${orElse(lookUp.output.in, 'work')} == "work"`, lookUp),
      customer.tell({ text: orElse(order.note, order.city) }),
    ),
  );
  assert.partialDeepStrictEqual(children, [
    { condition: { $cel: '(orElse(steps[?"look-up"][?"in"], "work")) == "work"' } },
    { input: { text: { $cel: 'orElse(order.?note, order.city)' } } },
  ]);
  assert.throws(() => orElse(cel<string>`${expression<string>('order.a') as Expr<string>} + "b"`, 'c'), /Expected a path/);

  for (const [text, value] of [
    ['(orElse(steps[?"look-up"][?"in"], "work")) == "work"', true],
    ['orElse(order.?note, order.city)', 'Bonn'],
  ] as const) {
    const parsed = parseExpression(text);
    assert.ok(parsed.ok, text);
    assert.deepEqual(parsed.expression.evaluate({ orderId: 'o1', order: { city: 'Bonn' }, steps: {} }), { ok: true, value });
  }
});

test('a forEach keeps its handlers when it is renamed', () => {
  const { children } = rootOf(({ order }) =>
    sequence(
      forEach(order.items, (item) => payment.charge({ amount: item.unitPrice }))
        .on(Refused, () => terminate())
        .named('charges'),
    ),
  );
  assert.partialDeepStrictEqual(children[0], {
    name: 'charges',
    do: { input: { amount: { $cel: 'each.charges.item.unitPrice' } } },
    faultHandlers: [{ fault: 'Refused', do: { name: 'on-Refused' } }],
  });
});

test('a variable is set and read under the same name', () => {
  const left = variable<number>('left');
  const { children } = rootOf(() =>
    sequence(assign(left, 2), repeatWhile(cel<boolean>`${left} > 0`, assign(left, cel<number>`${left} - 1`), { maxTurns: 5 })),
  );
  assert.deepEqual(children, [
    { activity: 'assign', name: 'set-left', variable: 'left', value: 2 },
    {
      activity: 'while',
      name: 'while',
      condition: { $cel: 'vars.left > 0' },
      maxTurns: 5,
      do: { activity: 'assign', name: 'set-left', variable: 'left', value: { $cel: 'vars.left - 1' } },
    },
  ]);
  assert.throws(() => assign(expression('order.left') as never, 1 as never), /Expected a variable .*got order\.left/);
});

test('a condition written with functions records the same text as one written in CEL', () => {
  const Parcel = z.object({
    kind: z.enum(['gift', 'purchase']),
    total: z.number(),
    paid: z.boolean(),
    note: z.string().optional(),
    by: z.iso.date(),
  });
  const order = expression<z.output<typeof Parcel>>('order');
  const vars = variables<{ left: number; done: boolean }>();
  const pairs = [
    [not(order.paid), cel`!${order.paid}`],
    [not(equals(order.kind, 'gift')), cel`!(order.kind == "gift")`],
    [equals(order.total, 0), cel`${order.total} == 0`],
    [greaterThan(order.total, 100), cel`${order.total} > 100`],
    [atLeast(order.total, vars.left), cel`${order.total} >= ${vars.left}`],
    [lessThan(order.by, '2030-01-01'), cel`${order.by} < "2030-01-01"`],
    [atMost(cel<number>`order.total / 2`, -1.5), cel`${cel`order.total / 2`} <= -1.5`],
    [has(order.note), cel`has(${order.note})`],
    [and(not(order.paid), lessThan(vars.left, 3), vars.done), cel`!${order.paid} && ${vars.left} < 3 && ${vars.done}`],
    [or(and(order.paid, vars.done), has(order.note)), cel`(order.paid && vars.done) || has(order.note)`],
    [and(cel<boolean>`order.paid || vars.done`, order.paid), cel`(order.paid || vars.done) && order.paid`],
  ];
  for (const [condition, written] of pairs) {
    assert.equal(celOf(condition), celOf(written));
    parseExpression(celOf(condition));
  }
});

test('ifTrue records the choice that it abbreviates', () => {
  const recorded = (build: (context: Context) => Activity<'Refused/CardDeclined'>) => JSON.stringify(define(build));
  const free = ({ order }: Context) => equals(order.city, 'Bonn');
  assert.equal(
    recorded((context) => ifTrue(free(context), tell('a'))),
    recorded((context) => choice(when(free(context), tell('a')))),
  );
  assert.equal(
    recorded((context) => ifTrue(free(context), tell('a'), charge())),
    recorded((context) => choice(when(free(context), tell('a')), otherwise(charge()))),
  );
});

test('a condition that is valid JavaScript but not a valid expression is refused where it is written', () => {
  assert.throws(() => ifTrue(true as never, tell('a')), /Expected an expression \(a path such as order\.total, or cel`…`\), got true/);
  assert.throws(() => not('paid' as never), /Expected an expression .* got "paid"/);
  assert.throws(() => equals(expression<number>('order.total'), Number.NaN), /Expected a finite number, got NaN/);
  assert.throws(() => has(cel`1 + 1`), /Expected a path such as order\.note, got 1 \+ 1/);
});

test('a root with a name keeps that name as the child of a new root, and its handlers become those of the order', () => {
  for (const [build, name] of [
    [() => charge(), 'charge'],
    [({ order }: Context) => forEach(order.items, () => charge()), 'items'],
    [() => repeatWhile(cel<boolean>`false`, charge()), 'while'],
    [() => scope('paid', charge()), 'paid'],
    [() => sequence(charge()).named('mine'), 'mine'],
  ] as const) {
    const root = rootOf(build);
    assert.deepEqual([root.activity, root.name, root.children.map((child) => child.name)], ['sequence', 'order', [name]]);
  }
  const handled = rootOf(() => scope('paid', charge()).on(Refused, ({ compensate }) => compensate()));
  assert.deepEqual([handled.faultHandlers.length, 'faultHandlers' in (handled.children[0] ?? {})], [1, false]);
  assert.equal(rootOf(() => retry(charge(), { retries: 1, intervalSeconds: 1 })).activity, 'retry');
});

test('a workflow does not load if an undo has an undo, or if a general handler of engine faults stands before a specific one', () => {
  const undoTwice = () => define(() => charge().undo(() => tell('a').undo(() => tell('b'))));
  assert.throws(undoTwice, /order\/charge\/undo: An undo cannot have an undo/);
  const engineFirst = () =>
    define(() =>
      sequence(charge())
        .on(EngineFault, () => terminate())
        .on(DeadlineExceeded, () => terminate()),
    );
  assert.throws(engineFirst, /on-DeadlineExceeded: The handler for "Engine\/DeadlineExceeded" can never run: .*"Engine"/);
});

test('F-67, F-85, F-88, F-100: a workflow written with the typed functions runs as it reads', () => {
  const Trip = z.object({ carriers: z.array(z.string()) });
  const NoSeat = fault('NoSeat', Refused);
  const travel = defineAgent('travel', {
    quote: operation({ input: z.object({ carrier: z.string() }), output: z.object({ price: z.number() }), run }),
    book: operation({ input: z.object({ best: z.number() }), output: z.object({ seat: z.string() }), faults: [NoSeat], run }),
    cancel: operation({ input: z.object({ seat: z.string() }), output: z.object({}), run }),
  });
  const best = variable<number>('best');
  const trip = defineWorkflow('trip', { version: 1, order: Trip }, ({ order }) => {
    const offers = forEach(order.carriers, (carrier) => {
      const quote = travel.quote({ carrier });
      return { do: sequence(quote, assign(best, quote.output.price)), until: cel<boolean>`${quote.output.price} < 10` };
    });
    const book = travel.book({ best }).undo(({ seat }) => travel.cancel({ seat }));
    return sequence(
      assign(best, 99),
      offers,
      choice(when(cel<boolean>`${best} > 50`, raise(NoSeat, text`none below ${best}`)), otherwise(book)),
      payment.charge({ amount: best }),
    ).on(Refused, ({ fault, compensate }) => sequence(compensate(), customer.tell({ text: fault.message })));
  });
  const quoted = (index: number, carrier: string) =>
    `-> travel order/carriers[${index}]/sequence/quote key order/carriers[${index}]/sequence/quote/1 attempt 1 with {"carrier":"${carrier}"}`;
  const story = `
    start
    ${quoted(0, 'rail')}
    ${quoted(1, 'bus')}

    ok order/carriers[0]/sequence/quote {"price": 30}

    ok order/carriers[1]/sequence/quote {"price": 8}
    -> travel order/choice/book key order/choice/book/1 attempt 1 with {"best":8}

    ok order/choice/book {"seat": "12A"}
    -> payment order/charge key order/charge/1 attempt 1 by +20s with {"amount":8}

    fault order/charge Refused/CardDeclined permanent
    -> travel order/choice/book/undo key order/choice/book/undo/1 attempt 1 with {"seat":"12A"}

    ok order/choice/book/undo
    -> customer order/on-Refused/tell key order/on-Refused/tell/1 attempt 1 with {"text":"the agent reports Refused/CardDeclined"}

    ok order/on-Refused/tell
    == compensated`;
  play(trip, story, { order: { carriers: ['rail', 'bus'] } });
});
