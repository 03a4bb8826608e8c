import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Timeline } from '#testing/world/timeline';
import { Faults, faultKinds, otherFaults, type Profile } from './faults.ts';
import { Fleet } from './fleet.ts';
import { standsStillMaxMs } from './host.ts';
import { portsOf, Shared } from './ports.ts';
import { SimulatedQueues } from './queues.ts';
import { chanceOf } from './random.ts';
import { Services } from './services.ts';
import type { Surroundings } from './surroundings.ts';

const hour = 3_600_000;
const nothingWrong = Object.fromEntries([...faultKinds, ...otherFaults].map((kind) => [kind, 0])) as Profile;

/** Hosts of a world without orders and without faults. */
function hosts(context: TestContext) {
  const chance = chanceOf(1);
  const passes: string[] = [];
  const around: Surroundings = {
    timeline: new Timeline(0),
    chance,
    faults: new Faults(nothingWrong, chance, () => ''),
    record: (observation) => void (observation.type === 'returned' && passes.push(observation.name)),
    carriedOut: () => undefined,
    narrate: () => undefined,
  };
  const queues = new SimulatedQueues(around);
  const shared = new Shared(around, queues, false);
  context.after(() => shared.database.close());
  const services = new Services(around, new Map());
  const fleet = new Fleet({
    around,
    queues,
    channels: shared.channels,
    cut: 'apart',
    variables: {},
    periodMs: 20_000,
    portsOf: (host) => ({ ...portsOf(host, shared, queues, around), remote: services.remoteFor(host) }),
    nextRelease: () => 'old',
    isDeployed: false,
    hasConsumers: false,
    isPassVain: () => false,
  });
  fleet.start('one');
  /** Returns the hosts whose supervisors have run within this time. */
  const looked = async (ms: number): Promise<readonly string[]> => {
    let isOver = false;
    around.timeline.after(ms, 'enough', () => void (isOver = true));
    while (!isOver) await around.timeline.step();
    return passes.splice(0).toSorted();
  };
  return { fleet, looked };
}

describe('absent supervisors', () => {
  test('run no pass until they are back', async (context) => {
    const { fleet, looked } = hosts(context);
    fleet.supervisorsGo(hour);
    assert.deepEqual(await looked(hour - 1), []);
    assert.deepEqual(await looked(10_000), ['supervisor', 'sweeper']);
  });

  test('return as soon as faults are over, and then run as often as before', async (context) => {
    const { fleet, looked } = hosts(context);
    await looked(hour);
    const often = await looked(hour);
    assert.ok(often.length > 100 && often.includes('sweeper'));
    fleet.supervisorsGo(6 * hour);
    await looked(hour);
    fleet.supervisorsReturn();
    assert.deepEqual(await looked(10_000), ['supervisor', 'sweeper']);
    await looked(6 * hour);
    assert.deepEqual(await looked(hour), often);
  });
});

test('a host that is paused twice stays paused for no longer than the laws allow', async (context) => {
  const { fleet, looked } = hosts(context);
  const [host] = fleet.all;
  assert.ok(host);
  const pausedAt = host.timeline.now;
  host.freeze(100_000);
  await looked(60_000);
  host.freeze(standsStillMaxMs);
  assert.equal(host.frozenUntil, pausedAt + standsStillMaxMs);
  host.freeze(1000);
  assert.equal(host.frozenUntil, pausedAt + standsStillMaxMs, 'a short pause does not end a longer one');
  await looked(standsStillMaxMs);
  const again = host.timeline.now;
  host.freeze(5000);
  assert.equal(host.frozenUntil, again + 5000);
});
