import { orderIdOf } from '#roles/submission/submission';
import { type Clients, clientName } from './clients.ts';
import type { Limits } from './limits.ts';
import { type Chance, chanceOf } from './random.ts';
import type { Services } from './services.ts';

/** The number of worlds of which one has wide and large orders, because they take long to play. */
const oneIn = 300;
const turns = { wide: [100, 180], rush: [210, 220] } as const;
const lastsMs = { 'stock.reserve': [300, 2500], 'bank.charge': [200, 900] } as const;
/** Sizes of the text: three copies of it fit into a request, or exceed the limit of an item. */
const characters = { fits: [20_000, 80_000], tooMany: [140_000, 165_000] } as const;
/** The share of worlds with an order whose item limit is below the output of its step, and that limit. */
const smaller = { share: 0.4, bytes: 16_000 } as const;

/** Returns the random sequence of a world with wide or large orders and a limited store; undefined in other worlds. */
export const limitedIn = (seed: number): Chance | undefined => {
  const chance = chanceOf(seed + 31_000_003);
  return chance.happens(1 / oneIn) ? chance : undefined;
};

/** Submits the orders; the returned function ends the settings that only they have. */
export function submitWide(clients: Clients, services: Services, limits: Limits, chance: Chance): () => void {
  const submit = (key: string, workflow: string, order: { readonly [field: string]: number | string[] }): string => {
    clients.submit({ client: clientName, idempotencyKey: key, workflow, order });
    return orderIdOf(clientName, key);
  };
  const items = (count: number): string[] => Array.from({ length: count }, (_, index) => `item ${index}`);
  for (const [operation, [least, most]] of Object.entries(lastsMs)) services.lasts.set(operation, () => chance.between(least, most));
  const loop = chance.pick(['wide', 'rush'] as const);
  submit(loop, loop, { items: items(chance.between(turns[loop][0], turns[loop][1])) });
  for (const [least, most] of [characters.fits, characters.tooMany])
    submit(`bulky ${least}`, 'bulky', { characters: chance.between(least, most) });
  if (chance.happens(smaller.share)) limits.smaller.set(submit('too small', 'bulky', { characters: characters.fits[0] }), smaller.bytes);
  return () => {
    for (const operation of Object.keys(lastsMs)) services.lasts.delete(operation);
    limits.smaller.clear();
  };
}
