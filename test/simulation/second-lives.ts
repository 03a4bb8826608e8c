import { orderIdOf } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import { offers, voyageOffer } from './app.ts';
import { type Clients, clientName } from './clients.ts';
import type { AnyFault } from './faults.ts';
import type { Shared } from './ports.ts';
import { type Chance, chanceOf } from './random.ts';
import type { Services } from './services.ts';
import type { Surroundings } from './surroundings.ts';

const oneIn = 100;
const keptForMs = [900_000, 1_800_000] as const;
const looksEveryMs = 300_000;
const unwanted = { share: 0.5, withinMs: 9_000_000 } as const;
const refused = 0.3;
/** Faults of this phase. Lost, late and duplicated messages make callers send requests to orders that ended long ago. */
const mayHappen: ReadonlySet<AnyFault> = new Set<AnyFault>(['message lost', 'message late', 'message twice', 'service answer lost']);

/** The first phase of a world whose orders are forgotten before others are submitted under their keys. */
export interface FirstLives {
  readonly keptForMs: number;
  readonly mayHappen: ReadonlySet<AnyFault>;
  readonly chance: Chance;
}

export function firstLivesIn(seed: number): FirstLives | undefined {
  const chance = chanceOf(seed + 37_000_003);
  return chance.happens(1 / oneIn) ? { keptForMs: chance.between(...keptForMs), mayHappen, chance } : undefined;
}

export interface Forgetting {
  readonly around: Surroundings;
  readonly shared: Shared;
  readonly history: History;
}

/** Submits orders under keys that other orders use later. The returned function ends the settings of this phase. */
export function submitFirst(world: Forgetting, clients: Clients, services: Services, { chance, keptForMs }: FirstLives): () => void {
  let isOver = false;
  const refuses = new Map<string, boolean>();
  services.refuses.set('carrier.ship', (orderId) => {
    if (!refuses.has(orderId)) refuses.set(orderId, chance.happens(refused));
    return refuses.get(orderId) === true;
  });
  const first = [voyageOffer, voyageOffer, chance.pick(offers), chance.pick(offers)];
  for (const [index, { workflow, body }] of first.entries()) {
    const idempotencyKey = `order-${index + 1}`;
    clients.submit({ client: clientName, idempotencyKey, workflow, order: body });
    if (chance.happens(unwanted.share)) clients.cancel(orderIdOf(clientName, idempotencyKey), unwanted.withinMs);
  }
  const look = (): void =>
    world.around.timeline.after(looksEveryMs, 'orders are forgotten', async () => {
      if (isOver) return;
      await forget(world, keptForMs);
      look();
    });
  look();
  return () => {
    isOver = true;
    services.refuses.delete('carrier.ship');
    world.history.startOver();
  };
}

/** Forgets old orders, as the sweeper of a host does. */
async function forget({ around, shared, history }: Forgetting, keptForMs: number): Promise<void> {
  const finishedBefore = around.timeline.now - keptForMs;
  if ((await shared.store.forget(finishedBefore, 500)) === 0) return;
  const known = [...history.orders.keys()];
  const heads = await Promise.all(known.map((orderId) => shared.store.head(orderId)));
  const orderIds = known.filter((_, index) => heads[index] === undefined);
  for (const orderId of orderIds) shared.last.delete(orderId);
  around.record({ type: 'forgotten', orderIds, finishedBefore });
}
