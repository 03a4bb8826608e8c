import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defineAgent, defineApp, defineWorkflow, operation, retry, scope, sequence } from 'redress';
import { type HistoryMatchers, historyMatchers, startSystem, type TestSystem } from 'redress/testing';
import * as z from 'zod';
import { AddressInvalid } from './faults.ts';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>> extends HistoryMatchers<R> {}
}
expect.extend(historyMatchers);

const Letter = z.object({ to: z.string() });
let known = new Set<string>();
const post = defineAgent('post', {
  send: operation({
    input: Letter,
    output: z.object({}),
    faults: [AddressInvalid],
    run: ({ to }, call) => (known.has(to) ? {} : call.failed(AddressInvalid, `${to} has no address.`)),
  }),
  file: operation({ input: Letter, output: z.object({}), run: () => ({}) }),
});

const version1 = defineWorkflow('letter', { version: 1, order: Letter, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(post.send(order).noUndo(), post.file(order).noUndo()),
);
/** Tries the address again, before it asks a person. */
const again = defineWorkflow('letter', { version: 2, order: Letter, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(retry(post.send(order).noUndo(), { retries: 1, intervalSeconds: 60, only: [AddressInvalid] }), post.file(order).noUndo()),
);
/** Files the letter in any case. */
const filed = defineWorkflow('letter', { version: 2, order: Letter }, ({ order }) =>
  sequence(
    scope('try', post.send(order).noUndo()).on(AddressInvalid, () => sequence()),
    post.file(order).noUndo(),
  ),
);
/** Differs from version 1 only after the step that fails. */
const otherEnd = defineWorkflow('letter', { version: 2, order: Letter, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(post.send(order).noUndo()),
);

let system: TestSystem;
beforeAll(async () => {
  system = await startSystem(defineApp({ workflows: [version1], agents: [post] }));
});
afterAll(() => system.stop());

/** A letter without an address, as `redress order export` writes it. */
async function exportedLetter(to: string): Promise<{ readonly content: unknown; readonly orderId: string }> {
  const submitted = await system.submit({ to });
  if (submitted.outcome !== 'accepted') throw new Error(submitted.outcome);
  const { orderId } = submitted.order;
  await system.passTime(1_000);
  return { orderId, content: await caseOf(orderId) };
}

async function caseOf(orderId: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${await system.token({ role: 'operator', subject: 'olga' })}` };
  const page = (await (await system.fetch(`/orders/${orderId}/export?limit=100`, { headers })).json()) as {
    case: object;
    items: unknown[];
  };
  return { ...page.case, journal: page.items };
}

test('F-161: exported orders are replayed against a new version, and the message says what does not fit', async () => {
  const { content } = await exportedLetter('Ann');
  expect(content).toFitWorkflow(version1);
  expect([content]).toFitWorkflow(otherEnd);
  expect(content).not.toFitWorkflow(again);
  expect(() => expect([content, content]).toFitWorkflow(filed)).toThrow(/2 of 2 orders do not fit letter@2:\n {2}ord_\w+: /);
  expect(() => expect(content).not.toFitWorkflow(version1)).toThrow(/Expected an order that does not fit letter@1/);
});

test('F-161: exported orders tell whether they would have ended without a person on a new version', async () => {
  const { content, orderId } = await exportedLetter('Ben');
  expect(content).toEndWithoutPerson(filed);
  expect(() => expect(content).toEndWithoutPerson(version1)).toThrow(/ord_\w+: order\/send: AddressInvalid blocks it\./);
  expect(content).not.toEndWithoutPerson(again);
  known = new Set(['Ben']);
  await system.instruct(orderId, { kind: 'resubmit' });
  await system.passTime(1_000);
  expect(await caseOf(orderId)).toEndWithoutPerson(again);
});

test('F-161: a matcher refuses what is no exported order, and says how to export one', () => {
  expect(() => expect({ v: 0 }).toFitWorkflow(version1)).toThrow(/v: expected a case of version 1, got 0\. Export the order again/);
});
