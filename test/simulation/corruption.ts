import type { Clients, Reach } from './clients.ts';
import { type Chance, chanceOf } from './random.ts';

/** How often a store goes bad, and damages one order after the other. */
const worldsWith = 0.06;
const damagesMax = 4;
const firstMaxMs = 60_000;
const pauseMs = [2_000, 60_000] as const;
/** How soon somebody comes upon it who wants something of the order. */
const foundMs = [500, 30_000] as const;
const finishedToo = 0.3;

/** A store that damages several orders, finished ones too, and people who decide on them before the end. */
export function corrupt(reach: Reach, clients: Clients, seed: number): void {
  // Of its own: where nothing is damaged by it, nothing else is another.
  const chance = chanceOf(seed + 3_000_017);
  if (!chance.happens(worldsWith)) return;
  let at = chance.between(5_000, firstMaxMs);
  for (let number = chance.between(2, damagesMax); number > 0; number--) {
    reach.around.timeline.after(at, 'the store goes bad', () => corruptOne(reach, clients, chance));
    at += chance.between(...pauseMs);
  }
}

function corruptOne({ around, shared }: Reach, clients: Clients, chance: Chance): void {
  const withFinished = chance.happens(finishedToo);
  const states = [...shared.last.values()].map(({ state }) => state);
  const open = states.filter(({ processState }) => withFinished || processState !== 'Processed');
  if (around.faults.over || open.length === 0) return;
  const { orderId } = chance.pick(open);
  around.faults.lands('record damaged', 'store', { role: 'scheduler', orderId });
  shared.damage(orderId);
  around.timeline.after(chance.between(...foundMs), 'somebody finds it damaged', () => {
    if (!around.faults.over && clients.waiting < 10) clients.decide(orderId, { finally: false, isDamaged: true });
  });
}
