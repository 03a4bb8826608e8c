import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type App, defineAgent, defineApp, defineWorkflow, operation, retry, sequence } from 'redress';
import * as z from 'zod';
import { exhaustedSteps } from '#testing/laws/exhausted-steps';
import { journalOf, ok, submitted, timePasses } from '../../roles/support.ts';
import { rule } from '../../support/rules.ts';
import { judgedBy, observedDesk } from './observed-desk.ts';

const agentOf = (name: string) => defineAgent(name, { work: operation({ input: z.unknown(), output: z.unknown(), run: () => ({}) }) });
const worker = agentOf('worker');
const helper = agentOf('helper');
const order = z.unknown();
/** A workflow with one step, whose lateness is a fault for its retry. It names no limit, so that of the deployment holds. */
const line = defineWorkflow('line', { version: 1, order, onExhausted: 'fault' }, () =>
  sequence(retry(worker.work({}), { retries: 1, intervalSeconds: 1 })),
);
const rescue = defineWorkflow('rescue', { version: 1, order }, () => sequence(helper.work({})));
const app: App = defineApp({ workflows: [line, rescue], agents: [worker, helper] });

/** An order whose step was late once too often when a rule suspended the order for a handler. The handler has ended. */
async function handledLate(context: TestContext) {
  const law = exhaustedSteps({ maxFailures: 0 });
  const observed = observedDesk(context, app, law, { variables: { MAX_FAILURES: '0' } });
  const { desk } = observed;
  const orderId = await submitted(desk);
  await desk.request();
  // The order does not know the rule before it wakes: the supervisor counts the step as late first.
  const event = { kind: 'order-age', afterSeconds: 50 } as const;
  const action = { kind: 'handle', workflow: 'rescue', control: 'ready' } as const;
  await desk.system.rules.put(rule({ id: 'old', event, object: { workflow: 'line' }, action }), {
    by: 'ada',
    reason: 'a test',
    expected: undefined,
  });
  await desk.clock.advance(60_000);
  await timePasses(desk.clock, desk.supervisor.pass());
  await desk.deliver('wake-ups');
  await desk.deliver('submissions');
  await desk.answer(await desk.request('helper'), ok(), { agent: 'helper' });
  await desk.deliver('wake-ups');
  const types = (await journalOf(desk, orderId)).map(({ type }) => type);
  const late = types.filter((type) => ['DeadlineExpired', 'HandlerStarted', 'HandlerEnded', 'FaultRaised'].includes(type));
  assert.deepEqual(late, ['DeadlineExpired', 'HandlerStarted', 'HandlerEnded', 'FaultRaised']);
  return observed;
}

describe('the law of exhausted steps', () => {
  test('S15: an order whose step exceeded its failure limit may fail that step later, when the handler of a rule has ended', async (context) => {
    const { found } = await handledLate(context);
    assert.deepEqual(found, []);
  });

  test('S15: an order that fails a late step below its failure limit breaks the law', async (context) => {
    const { desk, writes } = await handledLate(context);
    const patient = writes.map((write) => ({ ...write, after: { ...write.after, maxFailures: 1 } }));
    const [wrong, ...others] = judgedBy(exhaustedSteps({ maxFailures: 1 }), patient, desk.system.definitions);
    assert.match(String(wrong), /step order\/retry\/work failed with DeadlineExceeded below its failure limit/);
    assert.deepEqual(others, []);
  });
});
