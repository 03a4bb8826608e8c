import { amendOrders } from './amended.ts';
import { offers, pickingOffers, staySafelyOffer } from './app.ts';
import { type Role, roleAtWork } from './at-work.ts';
import { instructMany } from './bulk.ts';
import type { Clients, Reach } from './clients.ts';
import { corrupt } from './corruption.ts';
import { forge } from './forgeries.ts';
import { lockOrders } from './locks.ts';
import { notifiedIn, notifyPeople } from './notified.ts';
import { shareObjects } from './objects.ts';
import { isIn } from './random.ts';
import { rulePeople } from './ruled.ts';
import type { Services } from './services.ts';
import { sicken } from './sickness.ts';
import { deployStricter } from './stricter.ts';
import type { Surroundings } from './surroundings.ts';

const shipsInMs = [500, 45_000] as const;
const entersInMs = [10, 14_000] as const;
const missedMax = 0.9;
/** The roles whose processes crash on some orders, and the share of those orders. */
const deadlyFor: readonly Role[] = ['agent', 'children', 'scheduler', 'submissions'];
const deadlyShare = 0.3;
/** The probability that a client cancels an order when the ledger is unreachable. */
const canceled = 0.2;
const canceledWithinMs = 2000;

/** Durations of work that continues after a cancellation, the share of canceled orders, and the delay. */
const answersInMs = [1_000, 9_000] as const;
const unwanted = 0.4;
const unwantedWithinMs = 3_000;

const pairs = offers.filter(({ workflow }) => workflow === 'pair' || workflow === 'sale');
const entering = offers.filter(({ workflow }) => workflow === 'entry' || workflow === 'letter');
const shipping = offers.filter(({ workflow }) => workflow === 'sale' || workflow === 'tour');

/** Adds the themes of a world. Each theme has a separate random sequence, so that it does not change other worlds. */
export function addThemes(reach: Reach, services: Services, clients: Clients, seed: number, objectOrders?: number): void {
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
  rulePeople(reach, clients, seed);
  instructMany(reach, services, clients, seed);
  lockOrders(reach, clients, seed);
  notifyPeople(reach, clients, notifiedIn(seed));
  amendOrders(reach, services, clients, seed);
  shareObjects(reach, services, clients, seed, objectOrders);
}

/** Submits orders whose steps return secrets that are too short to be searched for. */
function lockAway(clients: Clients, seed: number): void {
  const chance = isIn(seed, 0);
  for (let number = chance?.between(2, 4) ?? 0; number > 0; number--) clients.submitSomething(200 + number, staySafelyOffer);
}

/** Makes a slow operation slower, and submits orders that use it often. */
function shipSlowly(services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, 1);
  if (!chance) return;
  services.lasts.set('carrier.ship', () => chance.between(...shipsInMs));
  for (let number = chance.between(2, 4); number > 0; number--) clients.submitSomething(300 + number, chance.pick(shipping));
}

/** Submits orders whose runs are repeated with other results: the input of an earlier request is then outdated. */
function pickAgain(services: Services, clients: Clients, seed: number): void {
  const chance = isIn(seed, 7);
  if (!chance) return;
  const orders = new Set<string>();
  for (let number = chance.between(6, 9); number > 0; number--)
    orders.add(clients.submitSomething(1400 + number, chance.pick(pickingOffers)));
  for (const operation of ['stock.reserve', 'carrier.ship'])
    services.refuses.set(operation, (orderId) => orders.has(orderId) && chance.happens(0.6));
}

/** Canceled work continues, and replies in the end. */
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
 * Some orders crash every process that does one kind of work for them. The records of queues and services are left out:
 * if they crashed every reader, no role could count the failures.
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

/** At-most-once operations are often unreachable or too slow, and clients cancel many of their orders. */
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
