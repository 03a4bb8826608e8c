import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScheduler } from '#roles/scheduler/scheduler';
import { instrumented, type PortCall } from '#testing/world/instrumented-ports';
import { operator, startBulk } from '../roles/bulk/support.ts';

/** The point at which the process dies: at its call of this number, before it or after its effect. */
interface Crash {
  readonly call: number;
  readonly isApplied: boolean;
}

/** Every so many calls are tested; the positions take turns. */
const every = 2;
const orders = 2;
const leaseMs = 20_000;

const never = (): Promise<never> => new Promise(() => {});

/** Plays a bulk run over some orders whose first process dies. Resolves to the calls that this process made, and to what is wrong. */
async function play({ call: last, isApplied }: Crash) {
  const bulk = startBulk();
  const { store, queues, clock, definitions, running } = bulk;
  const ids = await bulk.ordersInError(orders);
  const id = await bulk.created({ start: true, ratePerSecond: 10 });
  const sites: string[] = [];
  let die = (): void => {};
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const call = async ({ site, apply }: PortCall): Promise<unknown> => {
    const number = sites.push(site) - 1;
    if (number < last) return apply();
    if (number === last && isApplied) await apply();
    die();
    return never();
  };
  const ports = { store: instrumented('store', store, call), queues: instrumented('queues', queues, call) };
  const telemetry = { log: () => undefined, count: () => undefined, measure: () => undefined } as never;
  const publisher = { publish: async () => ({ failed: [] }) };
  const hostId = 'host-dying';
  const mortal = { now: () => clock.now(), sleep: (ms: number) => (sites.length > last ? never() : running.sleep(ms)) };
  const scheduler = createScheduler({ ...ports, publisher, clock: mortal, telemetry, definitions, hostId });
  await Promise.race([died, bulk.work(10_000, { ...ports, scheduler, clock: mortal, hostId })]);
  await clock.jump(leaseMs);
  await bulk.work();
  return { sites, wrong: await wrongIn(bulk, id, ids) };
}

/** Returns what differs from a run whose process did not die. */
async function wrongIn({ run, items, ask }: ReturnType<typeof startBulk>, id: string, ids: readonly string[]): Promise<readonly string[]> {
  const { state, count, applied, left } = await run(id);
  const outcomes = (await items(id)).map(({ outcome }) => outcome);
  const given = await Promise.all(
    ids.map(async (orderId) => {
      const { json } = await ask('GET', `/orders/${orderId}/history`, operator);
      return json.items.filter(({ type }: { type: string }) => type === 'InstructionGiven').length;
    }),
  );
  const [found, expected] = [
    { state, count, applied, left, outcomes, given },
    { ...whole, outcomes: ['applied', 'applied'], given: [1, 1] },
  ];
  return JSON.stringify(found) === JSON.stringify(expected) ? [] : [JSON.stringify(found)];
}

const whole = { state: 'done', count: orders, applied: orders, left: 0 };

describe('F-158, X-1, S34, S36: the process of a bulk run dies at one of its calls', () => {
  test('each order of the run gets the instruction once, as without the crash', async () => {
    const { sites, wrong } = await play({ call: Number.POSITIVE_INFINITY, isApplied: false });
    assert.deepEqual(wrong, []);
    assert.ok(sites.includes('store.update') && sites.includes('store.listed'), sites.join(', '));
    for (let call = 0; call < sites.length; call += every)
      for (const isApplied of [false, true]) {
        const crash = { call: call + (isApplied ? 2 : 0), isApplied };
        const { wrong } = await play(crash);
        assert.deepEqual(wrong, [], `the process dies ${isApplied ? 'after' : 'before'} call ${crash.call}, ${sites[crash.call]}`);
      }
  });
});
