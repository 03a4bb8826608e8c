import type { History } from '#testing/world/history';
import { Backup } from './backup.ts';
import type { Fleet } from './fleet.ts';
import { standsStillMaxMs } from './host.ts';
import type { Shared } from './ports.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Chance } from './random.ts';
import type { Surroundings } from './surroundings.ts';

export interface Restored {
  readonly around: Surroundings;
  readonly fleet: Fleet;
  readonly shared: Shared;
  readonly queues: SimulatedQueues;
  readonly history: History;
}

const keptAfterMs = [1000, 60_000] as const;
const restoredAfterMs = [1000, 90_000] as const;
const leftBehind = 0.5;
const standsStillMs = [1000, standsStillMaxMs] as const;

/** The time after which calls that were sent before the stop have arrived, and no process has started again. */
const arrivedAfterMs = 100;

/** Restores the table to an earlier moment. Services, and perhaps a process that was not stopped, know what happened since. */
export function restore(world: Restored, chance: Chance): void {
  const { timeline, faults } = world.around;
  timeline.after(chance.between(...keptAfterMs), 'the table is kept as it is', () => {
    const asOf = timeline.now;
    const backup = new Backup(world.shared, world.history);
    timeline.after(chance.between(...restoredAfterMs), 'everything is stopped', () => {
      if (faults.over) return;
      const hasOldProcess = stopAll(world, chance);
      timeline.after(arrivedAfterMs, 'the table is restored', () => {
        world.queues.purgeAll();
        backup.restore(world.history, timeline.now);
        world.around.record({ type: 'restored', asOf, orders: backup.orders, hasOldProcess });
      });
    });
  });
}

/** Stops all processes; returns whether one of them only pauses, and continues later. */
function stopAll({ fleet }: Restored, chance: Chance): boolean {
  const busy = fleet.all.filter(({ isDead, atWork }) => !isDead && atWork.length > 0);
  const left = busy.length > 0 && chance.happens(leftBehind) ? chance.pick(busy) : undefined;
  left?.freeze(chance.between(...standsStillMs));
  for (const host of fleet.all) if (host !== left) host.crash('for the restore');
  return left !== undefined;
}
