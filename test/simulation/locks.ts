import { InstanceLockedError } from '#ports/errors';
import { unreadable } from '#testing/world/clients';
import { offers } from './app.ts';
import type { Clients, Reach } from './clients.ts';
import { type Chance, isIn, restoredIn } from './random.ts';

const theme = 12;
const operators = ['ada', 'grace'] as const;
/** The time from the submission of an order until operators lock it, and the length of the lock: some locks end before anything happens. */
const locksAfterMs = [200, 75_000] as const;
const seconds = [1, 45] as const;
/** The share of operators who do not come back, and of those who have an admin end their lock. */
const goneShare = 0.25;
const adminShare = 0.15;
/** The time by which a process that works for the holder stands still beyond the end of the lock. */
const beyondMs = [100, 20_000] as const;

/** In one world of fifteen, operators lock orders, work on them alone, and give them back or go away. */
export function lockOrders(reach: Reach, clients: Clients, seed: number): void {
  const chance = isIn(seed, theme);
  // Worlds with a restore have no locks: a restored order would have an inbox without its lock.
  if (!chance || restoredIn(seed)) return;
  for (let number = chance.between(3, 5); number > 0; number--) {
    const orderId = clients.submitSomething(900 + number, chance.pick(offers));
    for (let locks = chance.between(1, 3); locks > 0; locks--)
      reach.around.timeline.after(chance.between(...locksAfterMs), 'an operator locks an order', () =>
        new Holder(reach, clients, chance, orderId).lock(),
      );
  }
}

/** An operator who has one order alone for a while. */
class Holder {
  private readonly reach: Reach;
  private readonly clients: Clients;
  private readonly chance: Chance;
  private readonly orderId: string;
  private readonly by: (typeof operators)[number];
  private readonly seconds: number;

  constructor(reach: Reach, clients: Clients, chance: Chance, orderId: string) {
    this.reach = reach;
    this.clients = clients;
    this.chance = chance;
    this.orderId = orderId;
    this.by = chance.pick(operators);
    this.seconds = chance.between(...seconds);
  }

  lock(): void {
    const { orderId, by, chance } = this;
    this.call(
      'lock',
      async ({ locking }, id) => (await locking.lock(orderId, { id, by, seconds: this.seconds, reason: id })).outcome,
      () => this.soon(chance.between(0, this.seconds * 700), () => this.goOn()),
    );
  }

  /** Works on the order, renews the lock, gives it back, or goes away. */
  private goOn(): void {
    const { chance } = this;
    if (chance.happens(0.3)) return this.lock();
    if (chance.happens(0.6)) this.work();
    if (chance.happens(goneShare)) return this.reach.around.carriedOut('emitted holder of a lock gone');
    this.soon(chance.between(100, this.seconds * 400), () => this.unlock());
  }

  /** Instructs the order. The process that does so may stand still, and goes on when the lock is over or another operator has it. */
  private work(): void {
    const { orderId, by, chance, reach } = this;
    const { around, shared } = reach;
    const kind = chance.pick(['suspend', 'suspend', 'resume', 'compensate', 'resubmit'] as const);
    if (chance.happens(0.4))
      shared.onHolderTurn = (host, read) => {
        if (read !== orderId || !around.faults.mayHappen('host stands still')) return;
        shared.onHolderTurn = undefined;
        const endsInMs = Math.max(0, (shared.last.get(orderId)?.state.heldUntil ?? 0) - around.timeline.now);
        const forMs = endsInMs + chance.between(...beyondMs);
        host.freeze(forMs);
        around.faults.lands('host stands still', 'host', { role: 'operator', orderId });
        around.carriedOut('emitted process of a holder stands still');
        const next = new Holder(reach, this.clients, chance, orderId);
        around.timeline.after(endsInMs + chance.between(1, 2000), 'another operator locks the order', () => next.lock());
      };
    const reason = this.clients.nameFor('alone');
    this.call('work', async ({ instruct }, id) => {
      const { outcome } = await instruct(orderId, { kind, by, reason }, { id, caller: by });
      return `${outcome} to its holder`;
    });
  }

  private unlock(): void {
    const { orderId, by, chance } = this;
    const isByAdmin = chance.happens(adminShare);
    this.call('unlock', async ({ locking }, id) => {
      const { outcome } = await locking.unlock(orderId, { id, by: isByAdmin ? 'root' : by, anyones: isByAdmin });
      return outcome;
    });
  }

  private soon(ms: number, what: () => void): void {
    this.clients.waiting += 1;
    this.reach.around.timeline.after(ms, `${this.by} goes on`, () => {
      this.clients.waiting -= 1;
      what();
    });
  }

  /** Repeats a call until it is answered. A refusal because another operator has the order is an answer, too. */
  private call(what: string, work: (scheduler: Scheduler, id: string) => Promise<string>, then?: () => void): void {
    const name = this.clients.nameFor(what);
    let tries = 0;
    let isAnswered = false;
    this.clients.persist('operator', `${name} of ${this.by} on ${this.orderId}`, async ({ system }) => {
      const outcome = await work(system.scheduler, `${name}/${++tries}`).catch((error: unknown) => {
        if (error instanceof InstanceLockedError && error.person !== undefined) return 'refused';
        return unreadable(error).outcome;
      });
      if (isAnswered || (outcome === 'not-found' && tries <= 5)) return isAnswered;
      isAnswered = true;
      this.reach.around.carriedOut(`emitted ${what} ${outcome}`);
      if (outcome === 'locked') then?.();
      return true;
    });
  }
}

type Scheduler = Parameters<Parameters<Clients['persist']>[2]>[0]['system']['scheduler'];
