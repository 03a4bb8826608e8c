import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Call, defineAgent, defineApp, defineWorkflow, type Operation, operation, retry, sequence, TransientFailure } from 'redress';
import { given, rehearse } from 'redress/testing';
import * as z from 'zod';
import { reaches, started, submitted } from './support.ts';

const Empty = z.object({});

/** A till with one operation that a retry requests, and the attempts that it received. */
function tillOf(charge: (call: Call) => Promise<never>, more: Partial<Operation<typeof Empty, typeof Empty, never>> = {}) {
  const attempts: number[] = [];
  const run = (_: unknown, call: Call) => {
    attempts.push(call.attempt);
    return charge(call);
  };
  const till = defineAgent('till', { charge: operation({ input: Empty, output: Empty, attemptsMax: 1, ...more, run }) });
  const pay = defineWorkflow('pay', { version: 1, order: Empty }, () =>
    sequence(retry(till.charge({}), { retries: 2, intervalSeconds: 1 })),
  );
  return { attempts, till, pay, app: defineApp({ workflows: [pay], agents: [till] }) };
}

async function inError(context: TestContext, { app }: ReturnType<typeof tillOf>, variables = {}) {
  const system = await started(context, app, { variables });
  const orderId = await submitted(system, {});
  await reaches(system, orderId, 'Error');
  return (await system.state(orderId)).fault;
}

describe('the fault of a blocked order', () => {
  const full = () => Promise.reject(new TransientFailure('the till is full'));

  test('F-43, F-93: is the fault of the last reply when a retry is used up: the order is blocked at once', async (context) => {
    const till = tillOf(full);
    const fault = await inError(context, till);
    assert.deepEqual([till.attempts, fault?.type, fault?.message], [[1, 2, 3], 'ServiceUnavailable', 'the till is full']);
  });

  test('F-93: is the same in a rehearsal of the workflow', () => {
    const { pay, till } = tillOf(full);
    const { outcome, steps, fault } = rehearse(pay, {}, given(till.charge).failsForNow());
    assert.deepEqual([outcome, steps.length, fault?.type], ['blocked', 3, 'Engine/ServiceUnavailable']);
  });

  test('F-53, X-20: is OutcomeUnknown for an at-most-once step above the threshold, not only DeadlineExceeded', async (context) => {
    const till = tillOf(() => new Promise<never>(() => {}), { atMostOnce: true });
    const fault = await inError(context, till, { MAX_FAILURES: '0' });
    assert.deepEqual([till.attempts, fault?.type], [[1], 'OutcomeUnknown']);
  });
});
