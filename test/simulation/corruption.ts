import type { Clients, Reach } from './clients.ts';
import { type Chance, chanceOf } from './random.ts';

/** The share of worlds whose store damages several orders. */
const worldsWith = 0.06;
const damagesMax = 4;
const firstMaxMs = 60_000;
const pauseMs = [2_000, 60_000] as const;
/** The delay until a person finds a damaged order and decides. */
const foundMs = [500, 30_000] as const;
const finishedToo = 0.3;

/** Damages several orders, including finished ones; people decide on them before the end. */
export function corrupt(reach: Reach, clients: Clients, seed: number): void {
  // A separate random sequence, so that damage changes no other random choice of a world.
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
