import assert from 'node:assert/strict';
import type { Clock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { type BulkRunnerPorts, createBulkRunner } from '#roles/bulk/runner';
import { startApi } from '../../api/support.ts';

export const operator = { as: 'operator' } as const;
const telemetry = createTelemetry({ level: 'off', write: () => undefined });

/** A shop behind its API, and a runner of bulk runs whose clock moves on when it sleeps. */
export function startBulk() {
  const shop = startApi();
  const { ask, store, queues, definitions, scheduler } = shop;
  const clock: Clock = { now: () => shop.clock.now(), sleep: (ms) => shop.clock.jump(ms) };
  const runner = (change: Partial<BulkRunnerPorts> = {}) =>
    createBulkRunner({
      store,
      queues,
      clock,
      telemetry,
      definitions,
      scheduler,
      hostId: 'host-1',
      schedulerQueues: ['wake-ups'],
      ...change,
    });

  let keys = 0;
  /** Creates a bulk run of resubmissions, and returns the answer. */
  const post = (body: object, key = `bulk-${++keys}`) =>
    ask('POST', '/bulk', {
      ...operator,
      headers: { 'idempotency-key': key },
      body: { filter: { state: 'Error' }, instruction: { kind: 'resubmit' }, reason: 'the bank is back', ratePerSecond: 100, ...body },
    });
  const created = async (body: object): Promise<string> => {
    const { status, json, text } = await post(body);
    assert.equal(status, 202, text);
    return json.id as string;
  };
  const run = async (id: string) => (await ask('GET', `/bulk/${id}`, operator)).json;
  const items = async (id: string, query = ''): Promise<readonly { readonly orderId: string; readonly outcome: string }[]> =>
    (await ask('GET', `/bulk/${id}/items?limit=100${query}`, operator)).json.items;
  const act = (id: string, action: string, headers = {}) =>
    ask('POST', `/bulk/${id}/${action}`, { ...operator, headers, body: { reason: `to ${action}` } });
  /** Runs the runner until it has nothing to do, or for so many questions whether it is over. */
  const work = async (questions = 10_000, change: Partial<BulkRunnerPorts> = {}): Promise<void> => {
    let left = questions;
    await runner(change).work(() => left-- <= 0);
  };
  const ordersInError = async (count: number, prefix = 'o'): Promise<string[]> => {
    const ids: string[] = [];
    for (let order = 0; order < count; order++) ids.push(await shop.orderInError(`${prefix}-${order}`));
    return ids;
  };
  return { ...shop, runner, post, created, run, items, act, work, ordersInError, running: clock };
}
