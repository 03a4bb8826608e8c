import type { ProcessState, StateRecord } from '#ports/records';
import type { Clients } from './clients.ts';
import type { AnyFault } from './faults.ts';
import { type Fleet, rolesOn } from './fleet.ts';
import { type SimulatedHost, standsStillMaxMs } from './host.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Surroundings } from './surroundings.ts';
import { suspend } from './suspensions.ts';

export interface Disturbed {
  readonly around: Surroundings;
  readonly fleet: Fleet;
  readonly queues: SimulatedQueues;
  readonly clients: Clients;
  damage(orderId: string): void;
  look(orderId: string): Promise<void>;
  /** The largest error of a clock, in milliseconds. */
  readonly skewMaxMs: number;
  /** The shortest and the longest pause between two disturbances. */
  readonly everyMs: readonly [number, number];
  /** The longest absence of the supervisors. */
  readonly goneMaxMs: number;
  states(): readonly StateRecord[];
}

/** Causes faults that need no call, and people who look at waiting orders. */
export function disturb(world: Disturbed): void {
  const { around, everyMs } = world;
  const { timeline, chance, faults } = around;
  timeline.after(chance.between(...everyMs), 'something else happens', () => {
    if (faults.over) return;
    disturbHosts(world);
    disturbQueues(world);
    const { clients } = world;
    const states = world.states();
    if (states.length > 0 && faults.chooses('order held')) clients.hold(chance.pick(states).orderId);
    if (states.length > 0 && clients.waiting < 10 && chance.happens(0.01)) clients.meddle(chance.pick(states).orderId);
    const open = states.filter(({ processState }) => processState !== 'Processed');
    if (open.length > 0 && clients.waiting < 10 && chance.happens(0.03)) suspend(around, clients, chance.pick(open).orderId);
    if (states.length > 0 && chance.happens(0.2)) timeline.after(0, 'somebody looks', () => world.look(chance.pick(states).orderId));
    if (faults.chooses('record damaged')) damageOne(world, states);
    for (const { orderId } of states.filter(isIn('Error')))
      if (chance.happens(0.15) && clients.waiting < 10 && !clients.leftToRuns.has(orderId)) clients.decide(orderId, { finally: false });
    disturb(world);
  });
}

/** The time that a container gets between SIGTERM and SIGKILL. */
const graceMs = 30_000;

function damageOne({ around, damage }: Disturbed, states: readonly StateRecord[]): void {
  const open = states.filter(({ processState }) => processState !== 'Processed');
  if (open.length === 0) return;
  const { orderId } = around.chance.pick(open);
  around.faults.lands('record damaged', 'store', { role: 'scheduler', orderId });
  damage(orderId);
}

const isIn =
  (wanted: ProcessState) =>
  ({ processState }: StateRecord): boolean =>
    processState === wanted;

function disturbHosts({ around, fleet, skewMaxMs, goneMaxMs }: Disturbed): void {
  const { chance, faults } = around;
  for (const host of fleet.all) {
    if (host.isDead) continue;
    if (befalls(around, 'clock jumps', host)) host.jump(chance.between(-skewMaxMs, skewMaxMs));
    if (chance.happens(0.01)) host.leave(graceMs);
    if (befalls(around, 'host stands still', host)) host.freeze(chance.between(1000, standsStillMaxMs));
  }
  if (fleet.areSupervisorsGone || !faults.chooses('supervisors gone')) return;
  fleet.supervisorsGo(chance.between(60_000, goneMaxMs));
  for (const role of ['supervisor', 'sweeper'] as const) faults.lands('supervisors gone', 'supervisor', { role });
}

/** Draws whether the fault hits this host; if so, counts it for every role at work there. */
function befalls({ faults }: Surroundings, kind: AnyFault, host: SimulatedHost): boolean {
  if (!faults.chooses(kind)) return false;
  const busy = rolesOn(host);
  for (const role of busy) faults.lands(kind, 'host', { role });
  if (busy.length === 0) faults.lands(kind, 'host', {});
  return true;
}

function disturbQueues({ around, queues, clients }: Disturbed): void {
  const { faults } = around;
  if (faults.chooses('poison')) clients.poison();
  if (faults.chooses('queue purged')) queues.purge();
  if (faults.chooses('old message again')) queues.repeatOld();
}
