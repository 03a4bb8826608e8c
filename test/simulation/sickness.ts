import type { Clients } from './clients.ts';
import { chanceOf } from './random.ts';
import type { Services } from './services.ts';
import type { Surroundings } from './surroundings.ts';

/** The share of worlds with a long outage and many running orders, so that agents must detect it. */
const worldsWith = 0.08;
const spellsMax = 2;
const firstMaxMs = 40_000;
const lastsMs = [15_000, 90_000] as const;
const wellMs = [20_000, 80_000] as const;
const ordersMore = [3, 6] as const;
/** The share of failing calls in a partial outage. */
const share = 0.7;

/** Makes services fail for longer than any retry lasts, with enough orders to detect it. */
export function sicken(around: Surroundings, services: Services, clients: Clients, seed: number): void {
  // A separate random sequence: outages must not change the events of other worlds.
  const chance = chanceOf(seed + 2_000_003);
  if (!chance.happens(worldsWith)) return;
  for (let number = chance.between(...ordersMore); number > 0; number--) clients.submitSomething(100 + number);
  const agent = chance.pick(['stock', 'stock', 'bank', 'ledger']);
  let at = chance.between(0, firstMaxMs);
  for (let spell = chance.between(1, spellsMax); spell > 0; spell--) {
    const until = at + chance.between(...lastsMs);
    const failing = chance.happens(0.7) ? 1 : share;
    around.timeline.after(at, `the service of ${agent} falls ill`, () => void services.illness.set(agent, failing));
    around.timeline.after(until, `the service of ${agent} is well`, () => void services.illness.delete(agent));
    at = until + chance.between(...wellMs);
  }
}
