import { type Bulk, type BulkAction, type BulkDraft, createBulk } from '#roles/bulk/bulk';
import { type BulkFilter, type BulkInstruction, type BulkRun, isFinal } from '#roles/bulk/run';
import { exceptionGroups } from '#roles/exceptions/groups';
import { usedSolution } from '#testing/world/clients';
import { dispatchOffer } from './app.ts';
import type { Clients, Reach } from './clients.ts';
import type { SimulatedHost } from './host.ts';
import { type Chance, isIn, restoredIn } from './random.ts';
import type { Services } from './services.ts';

const theme = 11;
/** The operation that refuses the orders, until some time after the first ones were submitted. */
const ill = 'carrier.ship';
const illForMs = [50_000, 120_000] as const;
/** The probability that the operation refuses an order afterwards. */
const refusesStill = 0.2;
const preparesAfterMs = [35_000, 140_000] as const;
const looksEveryMs = [300, 5_000] as const;
/** The time that a process stands still, and the time that an operator waits for the turn of an order. */
const standsStill = { ms: [500, 60_000], withinMs: 15_000 } as const;
/** The share of the orders that people leave to the bulk runs while faults last. */
const leftShare = 0.7;

const kinds = ['resubmit', 'resubmit', 'resubmit', 'resubmit', 'compensate', 'cancel', 'terminate'] as const;
const names = ['ada', 'grace'] as const;

/** Returns the random sequence of bulk runs; undefined if this world has none. */
export const bulkIn = (seed: number): Chance | undefined =>
  // Worlds with a restore have none: the recorded outcomes would be newer than the restored orders.
  restoredIn(seed) ? undefined : isIn(seed, theme);

/** In one world of fifteen, many orders are blocked for one reason, and operators give all of them one instruction. */
export function instructMany(reach: Reach, services: Services, clients: Clients, seed: number): void {
  const chance = bulkIn(seed);
  if (!chance) return;
  const orders: string[] = [];
  for (let number = chance.between(5, 14); number > 0; number--) {
    const orderId = clients.submitSomething(800 + number, dispatchOffer);
    orders.push(orderId);
    if (chance.happens(leftShare)) clients.leftToRuns.add(orderId);
  }
  const refusedOtherwise = services.refuses.get(ill);
  const wellAt = reach.around.timeline.now + chance.between(...illForMs);
  services.refuses.set(ill, (orderId) => {
    if (!orders.includes(orderId)) return refusedOtherwise?.(orderId) ?? false;
    return reach.around.timeline.now < wellAt || chance.happens(refusesStill);
  });
  for (let number = chance.between(1, 4); number > 0; number--) {
    reach.around.timeline.after(chance.between(...preparesAfterMs), 'an operator prepares a bulk run', () =>
      new Operators(reach, clients, chance).prepare(orders),
    );
  }
}

/** The next act of an operator after an answer. */
type Then = () => void;

/** Operators who prepare one bulk run, and look at it until it is over. Any of them may start, pause, resume and stop it. */
class Operators {
  private readonly reach: Reach;
  private readonly clients: Clients;
  private readonly chance: Chance;

  constructor(reach: Reach, clients: Clients, chance: Chance) {
    this.reach = reach;
    this.clients = clients;
    this.chance = chance;
  }

  prepare(orders: readonly string[]): void {
    const { chance } = this;
    const filterOf = this.filter(orders);
    const kind = chance.pick(kinds);
    const key = this.clients.nameFor('bulk run');
    const draft = {
      instruction: { kind } as BulkInstruction,
      by: chance.pick(names),
      reason: key,
      key,
      ratePerSecond: chance.pick([1, 1, 2, 2, 5, 10, 100]),
      ...(chance.happens(0.4) ? { canary: chance.between(1, 4) } : {}),
      ...(chance.happens(0.3) ? { stopAfterFailures: chance.between(1, 3) } : {}),
      ...(chance.happens(0.3) ? { solution: usedSolution } : {}),
      starts: chance.happens(0.4),
    };
    let chosen: BulkFilter | undefined;
    this.call('prepare', async (bulk, host) => {
      const found = await filterOf(host);
      // A repetition under the same key must have the same content.
      chosen ??= found;
      const created = await bulk.create({ ...draft, filter: chosen } satisfies BulkDraft, () => []);
      if (created.outcome === 'key-reused') throw new Error(`The key ${key} of a bulk run was refused.`);
      this.reach.around.carriedOut(`emitted bulk run ${created.outcome}`);
      return () => this.watch(created.run.id);
    });
  }

  /** Returns a choice of the orders that are blocked. */
  private filter(orders: readonly string[]): (host: SimulatedHost) => Promise<BulkFilter> {
    const { chance } = this;
    const given = chance.pick<BulkFilter | 'alike'>([
      { state: 'Error' },
      { state: 'Error', workflow: 'dispatch' },
      { state: 'Error', fault: 'AddressInvalid' },
      { ids: [...orders, 'ord_nobody'] },
      'alike',
      'alike',
    ]);
    if (given !== 'alike') return async () => given;
    return async ({ system: { store, clock } }) => {
      const [group] = await exceptionGroups(store, clock.now());
      return group ? { fingerprint: group.fingerprint } : { state: 'Error' };
    };
  }

  private watch(id: string): void {
    const { timeline } = this.reach.around;
    this.clients.waiting += 1;
    timeline.after(this.chance.between(...looksEveryMs), 'an operator looks at a bulk run', () => {
      this.clients.waiting -= 1;
      this.call('look at', async (bulk) => {
        const run = await bulk.run(id);
        if (!run) throw new Error(`The bulk run ${id} is gone.`);
        return () => this.goOn(run);
      });
    });
  }

  private goOn(run: BulkRun): void {
    if (isFinal(run)) return this.reach.around.carriedOut(`emitted bulk run ${run.state}`);
    const action = this.actionOn(run);
    if (action) this.act(run, action);
    else this.watch(run.id);
  }

  private act(run: BulkRun, action: BulkAction): void {
    const key = this.clients.nameFor('bulk act');
    const act = () =>
      this.call(action, async (bulk) => {
        const { outcome } = await bulk.act(run.id, { action, by: 'operator', reason: key, key });
        this.reach.around.carriedOut(`emitted bulk ${action} ${outcome}`);
        return () => this.watch(run.id);
      });
    if ((action === 'stop' || action === 'pause') && this.chance.happens(0.5)) this.standStill(act);
    else act();
  }

  /** A process stands still at an order's turn: it does not see that its run is stopped, and that another process takes it over. */
  private standStill(then: Then): void {
    const { around, shared } = this.reach;
    let isOver = false;
    const stop = (): void => {
      if (!isOver) then();
      isOver = true;
    };
    shared.onBulkTurn = (host) => {
      shared.onBulkTurn = undefined;
      if (!isOver && around.faults.mayHappen('host stands still')) {
        host.freeze(this.chance.between(...standsStill.ms));
        around.faults.lands('host stands still', 'host', { role: 'bulk' });
      }
      stop();
    };
    around.timeline.after(standsStill.withinMs, 'no order has its turn', stop);
  }

  /** Returns an operator's action on a run; undefined to wait. Once faults are over, operators no longer wait. */
  private actionOn({ state, pause }: BulkRun): BulkAction | undefined {
    const { chance } = this;
    const isLast = this.reach.around.faults.over;
    if (state === 'ready') return isLast || chance.happens(0.7) ? (chance.happens(0.9) ? 'start' : 'stop') : undefined;
    if (state === 'paused' && (pause?.by === 'person' || pause?.by === 'canary'))
      return isLast || chance.happens(0.5) ? (chance.happens(0.85) ? 'resume' : 'stop') : undefined;
    if (isLast) return undefined;
    if (chance.happens(state === 'running' ? 0.2 : 0.04)) return 'stop';
    return state === 'running' && chance.happens(0.12) ? 'pause' : undefined;
  }

  /** Repeats a call until it is answered. If two attempts are answered, only the first answer counts. */
  private call(what: string, work: (bulk: Bulk, host: SimulatedHost) => Promise<Then>): void {
    let isAnswered = false;
    this.clients.persist('operator', `${what} a bulk run`, async (host) => {
      const { store, publisher, clock, telemetry } = host.system;
      const then = await work(createBulk({ store, publisher, clock, telemetry }), host);
      if (!isAnswered) then();
      isAnswered = true;
      return true;
    });
  }
}
