import { dispatchOffer, offers } from './app.ts';
import type { Clients, Reach } from './clients.ts';
import { type Chance, isIn, restoredIn } from './random.ts';
import type { Services } from './services.ts';

const theme = 19;
/** The operation that refuses these orders, and the probability of a refusal. */
const ill = 'carrier.ship';
const refuses = 0.7;
const within = 150_000;
const shipping = offers.filter(({ workflow }) => workflow === 'sale' || workflow === 'weekend' || workflow === 'tour');

/** In one world of fifteen, operators give orders handlers of their own, and undo single scopes of them. */
export function amendOrders(reach: Reach, services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, theme);
  // Worlds with a restore have none: the handler would be newer than the restored order.
  if (!chance || restoredIn(seed)) return;
  reach.around.carriedOut('emitted worlds with amended orders');
  const orders = new Set<string>();
  for (let number = chance.between(4, 7); number > 0; number--)
    orders.add(clients.submitSomething(1100 + number, chance.happens(0.3) ? dispatchOffer : chance.pick(shipping)));
  const refusedOtherwise = services.refuses.get(ill);
  services.refuses.set(ill, (orderId) => (orders.has(orderId) ? chance.happens(refuses) : (refusedOtherwise?.(orderId) ?? false)));
  for (const orderId of orders) {
    for (let amendments = chance.between(1, 2); amendments > 0; amendments--) amend(reach, clients, chance, orderId);
    // Other operators leave this order alone while faults last, so that a scope is still open.
    if (chance.happens(0.6)) clients.leftToRuns.add(orderId);
    for (let tries = chance.between(2, 6); tries > 0; tries--)
      reach.around.timeline.after(chance.between(20_000, within), 'an operator undoes a scope', () => clients.compensateScope(orderId));
  }
}

function amend({ around }: Reach, clients: Clients, chance: Chance, orderId: string): void {
  const fault = chance.pick(['AddressInvalid', 'AddressInvalid', 'AddressInvalid', 'Engine/OutcomeUnknown', 'Refused']);
  const foresees = chance.happens(0.3);
  around.timeline.after(chance.between(10_000, 80_000), 'an operator amends an order', () => {
    const key = clients.nameFor('amendment');
    const handle = [{ fault, workflow: 'handling' }];
    clients.instruct(orderId, { kind: 'amend', by: 'operator', reason: key, handle }, key, { foresees });
  });
}
