import { offers, pickingOffers, staySafelyOffer } from './app.ts';
import { type Role, roleAtWork } from './at-work.ts';
import type { Clients, Reach } from './clients.ts';
import { corrupt } from './corruption.ts';
import { forge } from './forgeries.ts';
import { chanceOf } from './random.ts';
import type { Services } from './services.ts';
import { sicken } from './sickness.ts';
import { deployStricter } from './stricter.ts';
import type { Surroundings } from './surroundings.ts';

/** Of so many worlds one has a theme, for each that there is. */
const oneIn = 15;
const shipsInMs = [500, 45_000] as const;
const entersInMs = [10, 14_000] as const;
const missedMax = 0.9;
/** Whose processes die of some orders, and of how many. */
const deadlyFor: readonly Role[] = ['agent', 'children', 'scheduler', 'submissions'];
const deadlyShare = 0.3;
/** How often an order is canceled because of that. */
const canceled = 0.2;
const canceledWithinMs = 2000;

/** How long canceled work goes on, and how many orders are canceled, how soon. */
const answersInMs = [1_000, 9_000] as const;
const unwanted = 0.4;
const unwantedWithinMs = 3_000;

const pairs = offers.filter(({ workflow }) => workflow === 'pair' || workflow === 'sale');
const entering = offers.filter(({ workflow }) => workflow === 'entry' || workflow === 'letter');
const shipping = offers.filter(({ workflow }) => workflow === 'sale' || workflow === 'tour');

/** What only some worlds are about. Each draws from a chance of its own: it must not change what befalls other worlds. */
export function addThemes(reach: Reach, services: Services, clients: Clients, seed: number): void {
  sicken(reach.around, services, clients, seed);
  deployStricter(reach.around, services, clients, seed);
  lockAway(clients, seed);
  shipSlowly(services, clients, seed);
  const forger = isIn(seed, 2);
  if (forger) forge(reach, forger);
  missLedger(services, clients, seed);
  kill(reach.around, seed);
  pickAgain(services, clients, seed);
  answerLate(services, clients, seed);
  corrupt(reach, clients, seed);
}

/** The chance of a world that has this theme. */
export const isIn = (seed: number, theme: number) => {
  const chance = chanceOf(seed + 3_000_003 + theme * 1_000_000);
  return chance.happens(1 / oneIn) ? chance : undefined;
};

/** Orders whose steps answer secrets that are too short to be searched for. */
function lockAway(clients: Clients, seed: number): void {
  const chance = isIn(seed, 0);
  for (let number = chance?.between(2, 4) ?? 0; number > 0; number--) clients.submitSomething(200 + number, staySafelyOffer);
}

/** What may take long does so, and is asked for often. */
function shipSlowly(services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, 1);
  if (!chance) return;
  services.lasts.set('carrier.ship', () => chance.between(...shipsInMs));
  for (let number = chance.between(2, 4); number > 0; number--) clients.submitSomething(300 + number, chance.pick(shipping));
}

/** Orders whose runs are repeated, each with another luck: what an earlier one was requested with is not right any more. */
function pickAgain(services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, 7);
  if (!chance) return;
  const orders = new Set<string>();
  for (let number = chance.between(6, 9); number > 0; number--)
    orders.add(clients.submitSomething(500 + number, chance.pick(pickingOffers)));
  for (const operation of ['stock.reserve', 'carrier.ship'])
    services.refuses.set(operation, (orderId) => orders.has(orderId) && chance.happens(0.6));
}

/** What is canceled while it is at work goes on with that, and answers in the end. */
function answerLate(services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, 9);
  if (!chance) return;
  for (const operation of ['stock.reserve', 'bank.charge']) services.lasts.set(operation, () => chance.between(...answersInMs));
  for (const agent of ['stock', 'bank'])
    services.outOfReach.set(agent, (orderId) => {
      if (chance.happens(unwanted)) clients.cancel(orderId, unwantedWithinMs);
      return false;
    });
  for (let number = chance.between(3, 5); number > 0; number--) clients.submitSomething(600 + number, chance.pick(pairs));
}

/**
 * Some orders take every process with them that does one kind of work for them. What is stored of a queue or a service is no order:
 * where it killed every process that reads it, nobody could count what fails.
 */
function kill({ faults }: Surroundings, seed: number): void {
  const chance = isIn(seed, 4);
  if (!chance) return;
  const deadly = chance.pick(deadlyFor);
  const isSo = new Map<string, boolean>();
  faults.deadly = ({ role = roleAtWork(), orderId }) => {
    if (role !== deadly || !orderId?.startsWith('ord_')) return false;
    if (!isSo.has(orderId)) isSo.set(orderId, chance.happens(deadlyShare));
    return isSo.get(orderId) === true;
  };
}

/** What may be asked for only once often cannot be reached, or takes too long, and many do not want it any more. */
function missLedger(services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, 3);
  if (!chance) return;
  const often = missedMax * chance.next();
  services.outOfReach.set('ledger', (orderId) => {
    if (!chance.happens(often)) return false;
    if (chance.happens(canceled)) clients.cancel(orderId, canceledWithinMs);
    return true;
  });
  services.lasts.set('ledger.enter', () => chance.between(...entersInMs));
  for (let number = chance.between(3, 5); number > 0; number--) clients.submitSomething(400 + number, chance.pick(entering));
}
