import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  defineAgent,
  defineApp,
  defineWorkflow,
  operation,
  PermanentFailure,
  ProgrammingError,
  secret,
  sequence,
  TransientFailure,
} from 'redress';
import * as z from 'zod';
import { manualClock } from '#ports/clock';
import { createTroublePrinter } from '#runtime/host/trouble-printer';
import type { Emit } from '#runtime/system';
import { type Desk, type DeskOptions, journalOf, lineOf, nothing, openDesk, reaches, started, submitted } from './support.ts';

type Run = Parameters<typeof lineOf>[0][string];

/** A slip of the kind that everybody makes. */
const slip = (): never => {
  const answer = {} as { readonly charge: { readonly id: string } };
  return answer.charge.id as never;
};
const slipText = "TypeError: Cannot read properties of undefined (reading 'id')";

const away = (): never => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:4000') });
};
const awayText = 'fetch failed: connect ECONNREFUSED 127.0.0.1:4000';

/** A whole system with one order, whose single step runs this operation, in its end state. */
async function blocked(context: TestContext, run: Run, options: NonNullable<Parameters<typeof lineOf>[1]>['operation'] = {}) {
  const clock = manualClock();
  let runs = 0;
  const counted: Run = (input, call) => {
    runs += 1;
    return run(input, call);
  };
  const system = await started(context, lineOf({ pick: counted }, { operation: options }), { clock });
  const begun = clock.now();
  const orderId = await submitted(system);
  await reaches(system, orderId, 'Error');
  return { system, orderId, runs, seconds: (clock.now() - begun) / 1000, state: await system.state(orderId) };
}

describe('an order whose operation is wrong', () => {
  test('X-51: fails at its step after three equal programming errors, long before its deadline', async (context) => {
    const { runs, seconds, state } = await blocked(context, slip);
    assert.deepEqual(state.fault, {
      type: 'ProgrammingError',
      class: 'application-failure',
      message: slipText,
      permanent: true,
      source: 'order/pick',
    });
    assert.equal(runs, 3);
    assert.ok(seconds < 5, `${seconds} s`);
    assert.equal(state.failureCount, 0);
  });

  test('X-51: keeps the error in its history and in its alert', async (context) => {
    const { system, orderId } = await blocked(context, slip);
    const line = (await journalOf(system, orderId)).find(({ type }) => type === 'OrderBlocked');
    assert.equal(line?.type === 'OrderBlocked' && line.fault.message, slipText);
    await reachesAlerts(system);
    const alert = system.publisher.published(0, 100).find(({ detailType }) => detailType === 'Order In Error');
    assert.deepEqual([alert?.detail['type'], alert?.detail['message']], ['ProgrammingError', slipText]);
  });

  test('X-51: also fails after the third error if its operation makes one try for each request', async (context) => {
    const { runs, state } = await blocked(context, slip, { attemptsMax: 1 });
    assert.deepEqual([runs, state.fault?.type, state.failureCount], [3, 'ProgrammingError', 2]);
  });

  test('X-51: completes if its operation fails in different ways and then succeeds', async (context) => {
    let tried = 0;
    const system = await started(
      context,
      lineOf({
        pick: () => {
          tried += 1;
          if (tried === 3) throw new ReferenceError('x is not defined');
          if (tried === 6) return away();
          return tried < 8 ? slip() : {};
        },
      }),
      { clock: manualClock() },
    );
    await reaches(system, await submitted(system), 'Processed');
    assert.equal(tried, 8, 'never three alike in a row');
  });

  test('X-51: does not take a refused connection for a programming error, although fetch throws a TypeError', async (context) => {
    const { runs, seconds, state } = await blocked(context, away);
    assert.equal(state.fault?.type, 'DeadlineExceeded');
    assert.ok(runs > 8 && seconds > 30, `${runs} runs in ${seconds} s`);
  });

  test('X-51: fails at once for a URL that fetch can never request', async (context) => {
    for (const [url, text] of [
      ['localhost:4000/charges', 'unknown scheme'],
      ['/charges', 'TypeError: Invalid URL'],
    ]) {
      const { state } = await blocked(context, async () => fetch(`${url}`));
      assert.equal(state.fault?.type, 'ProgrammingError');
      assert.match(`${state.fault?.message}`, new RegExp(`${text}$`));
    }
  });

  test('X-51, F-30: goes to a handler of ProgrammingError', async (context) => {
    const agent = defineAgent('worker', {
      pick: operation({ input: z.object({}), output: z.object({}), run: slip }),
      tell: operation({ input: z.object({ text: z.string() }), output: z.unknown(), run: nothing }),
    });
    const workflow = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
      sequence(agent.pick({}).noUndo()).on(ProgrammingError, ({ fault }) => agent.tell({ text: fault.message }).noUndo()),
    );
    const system = await started(context, defineApp({ workflows: [workflow], agents: [agent] }), { clock: manualClock() });
    const orderId = await submitted(system);
    await reaches(system, orderId, 'Processed');
    assert.ok((await journalOf(system, orderId)).some(({ type }) => type === 'FaultHandled'));
  });

  test('X-20, X-51: has an unknown outcome after the first error if the operation runs at most once', async (context) => {
    const { runs, state } = await blocked(context, slip, { atMostOnce: true });
    assert.deepEqual([runs, state.fault?.type], [1, 'OutcomeUnknown']);
    assert.ok(state.fault?.message.startsWith(slipText), state.fault?.message);
  });

  test('X-51, X-45: does not open the circuit breaker for other orders', async (context) => {
    const system = await started(context, lineOf({ pick: slip }), { clock: manualClock() });
    const orders = await Promise.all(Array.from({ length: 10 }, () => submitted(system)));
    for (const orderId of orders) await reaches(system, orderId, 'Error');
    assert.equal(await system.store.breaker('worker'), undefined);
    const types = await Promise.all(orders.map(async (orderId) => (await system.state(orderId)).fault?.type));
    assert.deepEqual([...new Set(types)], ['ProgrammingError']);
  });
});

/** Lets the scheduler send what it has announced. */
const reachesAlerts = (system: Awaited<ReturnType<typeof started>>): Promise<unknown> => system.clock.advance(1_000);

describe('an order whose step gets no result in time', () => {
  test('F-53: says in its fault, its alert and its history how the last attempt failed', async (context) => {
    const { system, orderId, state } = await blocked(context, away, { attemptsMax: 2 });
    const heard = new RegExp(`The last attempt failed: ${awayText}$`);
    assert.match(`${state.fault?.message}`, heard);
    await reachesAlerts(system);
    const alert = system.publisher.published(0, 100).find(({ detailType }) => detailType === 'Order In Error');
    assert.match(String(alert?.detail['message']), heard);
    const failed = (await journalOf(system, orderId)).filter(({ type }) => type === 'AttemptFailed');
    assert.ok(failed.length > 0 && failed.every((line) => line.type === 'AttemptFailed' && line.fault.message === awayText));
  });

  test('F-53: names the last answer of a service that is busy until the deadline', async (context) => {
    const answers: string[] = [];
    const { state } = await blocked(context, () => {
      const answer = `answer ${answers.length + 1}: 503`;
      answers.push(answer);
      throw new TransientFailure(answer, { retryAfterMs: 3_000 });
    });
    assert.match(`${state.fault?.message}`, new RegExp(`The last attempt failed: ${answers.at(-1)}$`));
  });

  test('F-53: if its agent is silent, says in its fault and its alert that no reply came', async (context) => {
    const { system, state } = await blocked(context, () => new Promise(() => {}));
    assert.match(`${state.fault?.message}`, /The agent sent no reply: the tries took too long, or the agent does not run\.$/);
    await reachesAlerts(system);
    const alert = system.publisher.published(0, 100).find(({ detailType }) => detailType === 'Order In Error');
    assert.match(String(alert?.detail['message']), /The agent sent no reply: the tries took too long, or the agent does not run\.$/);
  });

  test('F-53: if its agent is silent about the last attempt, names an earlier failure in its fault', async (context) => {
    let tried = 0;
    const { state } = await blocked(context, () => (++tried <= 2 ? away() : new Promise(() => {})), { attemptsMax: 2 });
    assert.match(`${state.fault?.message}`, new RegExp(`The last failure that the agent reported: ${awayText}$`));
  });
});

const card = 'tok_canary_4711';
const derived = 'derived_canary_42';

/** An order with a secret, a step with a secret input that is not in the order, and what its developer sees. */
async function watched(
  context: TestContext,
  run: (input: { readonly card: string; readonly key: string }, call: { readonly orderId: string }) => unknown,
  options: Pick<DeskOptions, 'around'> & { readonly cancel?: () => void } = {},
) {
  const { cancel, ...more } = options;
  const agent = defineAgent('worker', {
    charge: operation({
      input: z.object({ card: z.string(), key: secret(z.string()) }),
      output: z.object({ id: z.string() }),
      run: run as never,
      ...(cancel ? { cancel } : {}),
    }),
  });
  const workflow = defineWorkflow('sale', { version: 1, order: z.object({ card: secret(z.string()) }) }, ({ order }) =>
    sequence(agent.charge({ card: order.card, key: derived }).noUndo()),
  );
  const printed: string[] = [];
  let print: ReturnType<typeof createTroublePrinter> | undefined;
  const shown: Promise<void>[] = [];
  const emit: Emit = (event, detail) => {
    if (event === 'operationFailed' && print && 'trouble' in detail) shown.push(print(detail.trouble));
  };
  const desk: Desk = openDesk(context, defineApp({ workflows: [workflow], agents: [agent] }), { emit, ...more });
  print = createTroublePrinter({ store: desk.store, definitions: desk.system.definitions, print: (text) => printed.push(text) });
  const submit = () => submitted(desk, { card });
  const serve = async () => {
    await desk.deliver('worker-requests');
    await Promise.all(shown);
  };
  return { desk, printed, submit, serve };
}

describe('the developer of an app', () => {
  test('X-51: sees an error once with its stack, its order, its step, its attempt and what happens next', async (context) => {
    const { printed, submit, serve } = await watched(context, slip);
    const orderId = await submit();
    await serve();
    const [first = '', then = '', ...more] = printed;
    assert.match(first, new RegExp(`^warn {2}worker\\.charge threw ${slipText.replace(/[()]/g, '\\$&')}\n`));
    assert.match(first, /\n +at (Object\.)?slip .*operation-errors\.test\.ts:\d+:\d+\)?\n/);
    assert.ok(first.includes(`order ${orderId}, step order/charge, attempt 1\n`), first);
    assert.match(first, /The agent tries again (at once|in 0\.\d s)\.$/);
    assert.match(then, /The step fails with ProgrammingError: the order is blocked\.$/);
    assert.doesNotMatch(then, /\n +at /);
    assert.deepEqual(more, []);

    await submit();
    await serve();
    assert.equal(printed.length, 2, 'the same cause in another order is not printed again');
  });

  test('X-51: sees an error once although its message names the order', async (context) => {
    const { printed, submit, serve } = await watched(context, (_, { orderId }) => {
      throw new PermanentFailure('NotHere', `There is no ${orderId}.`);
    });
    for (let order = 0; order < 3; order++) await submit();
    await serve();
    assert.equal(printed.length, 1);
  });

  test('X-51: sees the causes of an error', async (context) => {
    const { printed, submit, serve } = await watched(context, away);
    await submit();
    await serve();
    assert.match(`${printed[0]}`, /threw fetch failed: connect ECONNREFUSED 127\.0\.0\.1:4000\n[\s\S]*caused by connect ECONNREFUSED/);
    assert.match(`${printed.at(-1)}`, /The step is requested again when its time is over\. After 4 late attempts the order is blocked/);
  });

  test('X-51: sees that nothing is tried again when a service asks for a pause beyond the deadline', async (context) => {
    const { printed, submit, serve } = await watched(context, () => {
      throw new TransientFailure('503', { retryAfterMs: 60_000 });
    });
    await submit();
    await serve();
    assert.match(`${printed}`, /The agent does not try again before the deadline\. The step is requested again when its time is over\./);
  });

  test('X-51: sees which part of an output does not fit', async (context) => {
    const { printed, submit, serve } = await watched(context, () => ({ id: 7 }));
    await submit();
    await serve();
    assert.equal(printed.length, 1);
    assert.match(
      `${printed}`,
      /worker\.charge: The output does not match its schema: id: .*expected string.*\n[\s\S]*fails with InvalidReply/,
    );
  });

  test('X-51: sees that an operation gives no answer', async (context) => {
    const { printed, submit, serve } = await watched(context, () => new Promise(() => {}));
    await submit();
    await serve();
    assert.match(
      `${printed}`,
      /^warn {2}worker\.charge gave no answer in time \(10 s\)\n[\s\S]*After 4 late attempts the order is blocked/,
    );
  });

  test('X-51: sees no secret of the order or of the step, and neither do the journal and the alerts', async (context) => {
    for (const error of [TypeError, Error, TransientFailure]) {
      const { desk, printed, submit, serve } = await watched(context, (input) => {
        throw new error(`No ${input.card} with ${input.key}`, { cause: new Error(`The bank knows no ${input.key} of ${input.card}.`) });
      });
      const orderId = await submit();
      await serve();
      const replies = desk.messages('worker-replies');
      await desk.deliver('worker-replies');
      const { blob: _, ...head } = await desk.state(orderId);
      const seen = JSON.stringify([printed, await journalOf(desk, orderId), desk.announced(), head, desk.log]);
      assert.doesNotMatch(seen, /_canary_/);
      assert.match(seen, /No \[secret\] with \[secret\]/);
      assert.doesNotMatch(JSON.stringify(replies), new RegExp(derived), 'the reply does not carry the secret of the input either');
    }
  });

  test('X-51, S24: sees no part of a secret at which a long message is cut off', async (context) => {
    const { desk, printed, submit, serve } = await watched(context, (input) => {
      throw new Error(`${'long '.repeat(187)}${input.card} ${'long '.repeat(100)}`);
    });
    const orderId = await submit();
    await serve();
    await desk.deliver('worker-replies');
    const seen = JSON.stringify([printed, await journalOf(desk, orderId)]);
    assert.match(seen, /long …/);
    assert.doesNotMatch(seen, /tok_/);
  });

  test('X-51: sees no characters that a terminal interprets', async (context) => {
    const { printed, submit, serve } = await watched(context, () => {
      throw new Error('\u001b[2J\u001b]0;owned\u0007');
    });
    await submit();
    await serve();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not reach a terminal.
    assert.doesNotMatch(printed.join(''), /[\u0000-\u0009\u000b-\u001f]/);
  });
});
