import type { ProcessState, StateRecord } from '#ports/records';
import type { AnyFault } from './faults.ts';
import { type Fleet, rolesOn } from './fleet.ts';
import type { SimulatedHost } from './host.ts';
import type { Outside } from './outside.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Sight } from './sight.ts';
import { suspend } from './suspensions.ts';

export interface Disturbed {
  readonly sight: Sight;
  readonly fleet: Fleet;
  readonly queues: SimulatedQueues;
  readonly outside: Outside;
  damage(orderId: string): void;
  look(orderId: string): Promise<void>;
  /** How wrong clocks may be. */
  readonly skewMaxMs: number;
  /** Least and most between two looks. */
  readonly everyMs: readonly [number, number];
  /** How long supervisors may be gone. */
  readonly goneMaxMs: number;
  states(): readonly StateRecord[];
}

/** What goes wrong by itself, without anybody having called anything; and people who look at what waits for them. */
export function disturb(world: Disturbed): void {
  const { sight, everyMs } = world;
  const { timeline, chance, faults } = sight;
  timeline.after(chance.between(...everyMs), 'something else happens', () => {
    if (faults.over) return;
    disturbHosts(world);
    disturbQueues(world);
    const { outside } = world;
    const states = world.states();
    if (states.length > 0 && faults.chooses('order held')) outside.hold(chance.pick(states).orderId);
    if (states.length > 0 && outside.waiting < 10 && chance.happens(0.01)) outside.meddle(chance.pick(states).orderId);
    const open = states.filter(({ processState }) => processState !== 'Processed');
    if (open.length > 0 && outside.waiting < 10 && chance.happens(0.03)) suspend(sight, outside, chance.pick(open).orderId);
    if (states.length > 0 && chance.happens(0.2)) timeline.after(0, 'somebody looks', () => world.look(chance.pick(states).orderId));
    if (faults.chooses('record damaged')) damageOne(world, states);
    for (const { orderId } of states.filter(isIn('Error')))
      if (chance.happens(0.15) && outside.waiting < 10) outside.decide(orderId, { finally: false });
    disturb(world);
  });
}

/** How long a host may stand still. */
export const standsStillMaxMs = 120_000;
/** As containers get it. */
const graceMs = 30_000;

function damageOne({ sight, damage }: Disturbed, states: readonly StateRecord[]): void {
  const open = states.filter(({ processState }) => processState !== 'Processed');
  if (open.length === 0) return;
  const { orderId } = sight.chance.pick(open);
  sight.faults.lands('record damaged', 'store', { role: 'scheduler', orderId });
  damage(orderId);
}

const isIn =
  (wanted: ProcessState) =>
  ({ processState }: StateRecord): boolean =>
    processState === wanted;

function disturbHosts({ sight, fleet, skewMaxMs, goneMaxMs }: Disturbed): void {
  const { chance, faults } = sight;
  for (const host of fleet.all) {
    if (host.isDead) continue;
    if (befalls(sight, 'clock jumps', host)) host.jump(chance.between(-skewMaxMs, skewMaxMs));
    if (chance.happens(0.01)) host.leave(graceMs);
    if (befalls(sight, 'host stands still', host)) host.freeze(chance.between(1000, standsStillMaxMs));
  }
  if (fleet.areSupervisorsGone || !faults.chooses('supervisors gone')) return;
  fleet.supervisorsGo(chance.between(60_000, goneMaxMs));
  for (const role of ['supervisor', 'sweeper'] as const) faults.lands('supervisors gone', 'supervisor', { role });
}

/** It befalls everybody at work there. */
function befalls({ faults }: Sight, kind: AnyFault, host: SimulatedHost): boolean {
  if (!faults.chooses(kind)) return false;
  const busy = rolesOn(host);
  for (const role of busy) faults.lands(kind, 'host', { role });
  if (busy.length === 0) faults.lands(kind, 'host', {});
  return true;
}

function disturbQueues({ sight, queues, outside }: Disturbed): void {
  const { faults } = sight;
  if (faults.chooses('poison')) outside.poison();
  if (faults.chooses('queue purged')) queues.purge();
  if (faults.chooses('old message again')) queues.repeatOld();
}
