import { isJudged } from '#core/exceptions/verdict';
import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import { allSettledOrThrow } from '#ports/util/all-settled';
import type { BulkDocuments, Mark, OrderOfSet } from './documents.ts';
import { type BulkRun, noVerdicts, type Verdict, type Verdicts } from './run.ts';
import type { Verify } from './verify.ts';

interface Ports {
  readonly documents: BulkDocuments;
  readonly clock: Clock;
  readonly verify: Verify;
}

/** The most orders that one `look` reads, and the pauses between two looks at one order. */
const looksMax = 100;
const pauseMs = { first: 250, longest: 30_000 };

/** Follows the applied orders of one run until each has passed or failed. The marks of its chunks tell which orders have no verdict yet. */
export class Verification {
  private readonly ports: Ports;
  private readonly marks = new Map<number, Mark[]>();
  private readonly orders = new Map<number, readonly OrderOfSet[]>();
  private readonly pauses = new Map<string, { readonly nextAt: number; readonly pauseMs: number }>();
  private isLoaded = false;

  constructor(ports: Ports) {
    this.ports = ports;
  }

  /** Marks the applied orders of a chunk, before anybody counts them. */
  async note(run: BulkRun, chunk: number, orders: readonly OrderOfSet[], isApplied: (orderId: string) => boolean): Promise<void> {
    if (!isJudged(run.kind)) return;
    await this.load(run);
    const before = this.marks.get(chunk) ?? [];
    const now = orders.map(({ orderId }, index): Mark => {
      const mark = before[index] ?? 'none';
      return mark === 'none' && isApplied(orderId) ? 'running' : mark;
    });
    this.orders.set(chunk, orders);
    this.marks.set(chunk, now);
    if (now.some((mark, index) => mark !== (before[index] ?? 'none'))) await this.ports.documents.putMarks(run, chunk, now);
  }

  /** Examines some of the orders without a verdict: those whose pause is over. Resolves to the verdicts so far. */
  async look(run: BulkRun): Promise<Verdicts> {
    if (!isJudged(run.kind)) return noVerdicts;
    await this.load(run);
    const now = this.ports.clock.now();
    const changed = new Set<number>();
    let looks = 0;
    for (const [chunk, marks] of this.marks) {
      if (looks >= looksMax || !marks.includes('running')) continue;
      const orders = await this.ordersOf(run, chunk);
      const open = orders.flatMap((order, index) => (marks[index] === 'running' && this.isTurn(order, now) ? [{ order, index }] : []));
      const some = open.slice(0, looksMax - looks);
      looks += some.length;
      const verdicts = await allSettledOrThrow(some.map(({ order }) => this.verdictOf(run, order, now)));
      for (const [each, { index }] of some.entries()) {
        const verdict = verdicts[each];
        if (verdict === undefined || verdict === 'running') continue;
        marks[index] = verdict;
        changed.add(chunk);
      }
    }
    for (const chunk of changed) await this.ports.documents.putMarks(run, chunk, this.marks.get(chunk) ?? []);
    return this.sums();
  }

  private sums(): Verdicts {
    const all = [...this.marks.values()].flat();
    const count = (mark: Mark): number => all.filter((each) => each === mark).length;
    return { passed: count('passed'), 'failed-again': count('failed-again'), 'failed-otherwise': count('failed-otherwise') };
  }

  /** Returns the verdict on one order; `running` if the order cannot be judged now. */
  private async verdictOf(run: BulkRun, order: OrderOfSet, now: number): Promise<Verdict> {
    const { orderId } = order;
    const before = this.pauses.get(orderId)?.pauseMs ?? pauseMs.first / 2;
    const next = Math.min(2 * before, pauseMs.longest);
    this.pauses.set(orderId, { nextAt: now + next, pauseMs: next });
    try {
      const verdict = await this.ports.verify({ ...order, kind: run.kind });
      if (verdict !== 'running') this.pauses.delete(orderId);
      return verdict;
    } catch (error) {
      if (isFatal(error)) throw error;
      return 'running';
    }
  }

  private isTurn({ orderId }: OrderOfSet, now: number): boolean {
    return (this.pauses.get(orderId)?.nextAt ?? now) <= now;
  }

  private async ordersOf(run: BulkRun, chunk: number): Promise<readonly OrderOfSet[]> {
    const known = this.orders.get(chunk) ?? (await this.ports.documents.chunk(run, chunk));
    this.orders.set(chunk, known);
    return known;
  }

  private async load(run: BulkRun): Promise<void> {
    if (this.isLoaded) return;
    for (const [chunk, marks] of await this.ports.documents.marks(run.id)) this.marks.set(chunk, [...marks]);
    this.isLoaded = true;
  }
}
