import type { Clients, Reach } from './clients.ts';
import { giveRecovery, isDone, whenReady } from './object-looks.ts';
import type { Chance } from './random.ts';
import type { Services } from './services.ts';

const groupsIn = [2, 3] as const;
const readersIn = [1, 2] as const;
/** Clients submit these orders soon, so that most of it happens while faults last, and cancel none. */
const submitted = { soonMs: 10_000, mayCancel: false } as const;
/** The time that a writer rests after its write, so that nothing else of it has to be undone, and that a reader stays open at its end. */
const restsSeconds = 400;
const staysSeconds = 20;
const looks = { everyMs: 2000, max: 200 } as const;
const recoversAfterMs = [0, 10_000] as const;
const joinsAfterMs = [0, 300] as const;
/** The time that the warehouse takes to undo for a writer. It takes longer for the readers. */
const undoesMs = [50, 1500] as const;
/** The probability that a reader is recovered beside its read. */
const besideShare = 0.7;

/** The parts of a world that all its groups use. */
interface Groups {
  readonly reach: Reach;
  readonly clients: Clients;
  readonly chance: Chance;
  /** The ids of the orders that write, and of all orders. */
  readonly writers: Set<string>;
  readonly all: Set<string>;
}

/**
 * Groups of orders share a lot of their own: one order writes it, and the others read it. A person recovers all of a group at the same time,
 * so the readers learn of the undone write while they are recovered. They have read it beside the affected scope, or inside.
 */
export function shareLots(reach: Reach, services: Services, clients: Clients, chance: Chance): void {
  const groups: Groups = { reach, clients, chance, writers: new Set(), all: new Set() };
  const undoes = services.lasts.get('stock.release');
  if (undoes)
    services.lasts.set('stock.release', (orderId) => (groups.writers.has(orderId) ? chance.between(...undoesMs) : undoes(orderId)));
  for (const operation of ['stock.book', 'stock.take']) {
    const refuses = services.refuses.get(operation);
    if (refuses) services.refuses.set(operation, (orderId) => !groups.all.has(orderId) && refuses(orderId));
  }
  for (let number = chance.between(...groupsIn); number > 0; number--) playGroup(groups, number);
}

function playGroup(groups: Groups, number: number): void {
  const { reach, chance } = groups;
  const submit = (place: number, workflow: string, seconds: number): string => {
    const body = { lot: `p${number}`, to: `q${number}`, wait: seconds, last: seconds };
    return submitOne(groups, 1050 + 10 * number + place, { workflow, body });
  };
  const writer = submit(0, 'receipt', restsSeconds);
  groups.writers.add(writer);
  const isBooked = (): boolean => isDone(reach, writer, 'order/book');
  const read = (): void => {
    if (!isBooked()) return;
    const readers = Array.from({ length: chance.between(...readersIn) }, (_, index) => submit(index + 1, 'assembly', staysSeconds));
    const isInBranches = (): boolean => readers.some((reader) => isDone(reach, reader, 'order/both'));
    whenReady(reach.around, isInBranches, () => recoverAll(groups, writer, readers), looks);
  };
  whenReady(reach.around, isBooked, read, looks);
}

function submitOne({ clients, all }: Groups, number: number, offer: Parameters<Clients['submitSomething']>[1]): string {
  const orderId = clients.submitSomething(number, offer, submitted);
  all.add(orderId);
  // No person ends these orders one by one as long as faults last.
  clients.leftToRuns.add(orderId);
  return orderId;
}

function recoverAll({ reach, clients, chance }: Groups, writer: string, readers: readonly string[]): void {
  const afterMs = chance.between(...recoversAfterMs);
  const recover = (orderId: string, path: string, ms: number): void =>
    reach.around.timeline.after(ms, 'an operator recovers a group', () => giveRecovery(reach, clients, { orderId, path }));
  for (const reader of readers) recover(reader, chance.happens(besideShare) ? 'order/both' : 'order/check', afterMs);
  recover(writer, 'order/book', afterMs + chance.between(...joinsAfterMs));
}
