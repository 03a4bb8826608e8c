import type { Embedded } from '#adapters/sqlite/open';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import type { CallerRef, ProcessState, StateRecord } from '#ports/records';
import { decodeInstance, type Instance, type JournalEntry } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import { inside } from '#testing/rehearse/player';

/** One order, and all writes of it. */
export interface Tracked {
  readonly orderId: string;
  readonly caller: CallerRef | undefined;
  readonly program: Program;
  /** The prefix of its request paths: empty, or `order/ship-one > `. */
  readonly label: string;
  state: StateRecord;
  instance: Instance;
  /** The journal, oldest entry first. */
  readonly journal: JournalEntry[];
}

const next: { readonly [state in ProcessState]: readonly ProcessState[] } = {
  Pending: ['Processing', 'Error', 'Processed'],
  Processing: ['Pending', 'Processed', 'Error'],
  Error: ['Processing', 'Processed'],
  Processed: [],
};

/** The stored orders, read after every event, so that each write is checked. */
export class History {
  readonly orders = new Map<string, Tracked>();
  /** Violations of the writes, as text. */
  readonly broken: string[] = [];
  private readonly embedded: Embedded;
  private readonly definitions: Definitions;

  constructor(embedded: Embedded, definitions: Definitions) {
    this.embedded = embedded;
    this.definitions = definitions;
  }

  /** Returns the orders written since the last look. */
  async look(): Promise<readonly Tracked[]> {
    const rows = this.embedded.database.prepare('SELECT o.orderId, s.rev FROM orders o JOIN states s ON s.id = o.id').all() as {
      orderId: string;
      rev: number;
    }[];
    const written: Tracked[] = [];
    for (const { orderId, rev } of rows) if (this.orders.get(orderId)?.state.rev !== rev) written.push(await this.take(orderId));
    return written;
  }

  private async take(orderId: string): Promise<Tracked> {
    const found = await this.embedded.store.load(orderId);
    if (!found) throw new Error(`Order ${orderId} has a state but no record.`);
    const { order, state } = found;
    const instance = decodeInstance(state);
    const known = this.orders.get(orderId);
    if (known) {
      this.checkWrite(known.state, state);
      Object.assign(known, { state, instance });
      this.extend(known);
      return known;
    }
    const program = this.definitions.program(order.workflow.name, order.workflow.version);
    if (!program) throw new Error(`Order ${orderId} runs an unknown workflow.`);
    const caller = order.caller;
    const callers = caller && this.orders.get(caller.orderId);
    const label = caller ? inside(`${callers?.label ?? ''}${caller.path}`) : '';
    const tracked = { orderId, caller, program, label, state, instance, journal: [] };
    if (state.rev !== 1) this.broken.push(`${orderId} begins with rev ${state.rev}`);
    this.orders.set(orderId, tracked);
    this.extend(tracked);
    return tracked;
  }

  /** S1, S2, S4: of two concurrent writes one wins; claims and resets raise the epoch; process states follow the allowed transitions. */
  private checkWrite(before: StateRecord, after: StateRecord): void {
    const { orderId } = after;
    const [from, to] = [before.processState, after.processState];
    const isRecalled = before.outcome === 'completed' && this.orders.get(orderId)?.caller !== undefined;
    const claimed = after.lockedBy !== null && after.lockedBy !== before.lockedBy;
    const problems: readonly (readonly [boolean, string])[] = [
      [after.rev !== before.rev + 1, `rev ${before.rev} is followed by ${after.rev}`],
      [after.epoch < before.epoch, `the epoch falls from ${before.epoch} to ${after.epoch}`],
      [claimed && after.epoch === before.epoch, 'it is claimed without a new epoch'],
      [from === 'Processing' && to === 'Pending' && after.epoch === before.epoch, 'it is reset without a new epoch'],
      [from !== to && !next[from].includes(to) && !(from === 'Processed' && isRecalled), `it goes from ${from} to ${to}`],
      [from === to && from === 'Processed' && before.outcome !== after.outcome && !isRecalled, 'it has a second outcome'],
      [
        after.failureCount > before.failureCount + 1,
        `${after.failureCount - before.failureCount} expired deadlines are counted in one write`,
      ],
      [from !== 'Error' && to === 'Error' && after.errorGen !== before.errorGen + 1, 'it enters Error without a new alert'],
    ];
    for (const [isBroken, what] of problems) if (isBroken) this.broken.push(`${orderId}: ${what}`);
  }

  /** S5: every journal entry is written once, has the next number, and never changes. */
  private extend({ orderId, journal, instance: { tail, seq } }: Tracked): void {
    for (const entry of tail) {
      const known = journal[entry.seq - 1];
      if (known) {
        if (JSON.stringify(known) !== JSON.stringify(entry)) this.broken.push(`${orderId}: journal entry ${entry.seq} has changed`);
        continue;
      }
      if (entry.seq !== journal.length + 1) this.broken.push(`${orderId}: journal entry ${journal.length} is followed by ${entry.seq}`);
      journal.push(entry);
    }
    if (seq !== journal.length) this.broken.push(`${orderId}: the journal has ${journal.length} entries, but its seq is ${seq}`);
  }

  /** Checks that every written journal entry is still stored. */
  async checkKept(): Promise<readonly string[]> {
    const lost: string[] = [];
    for (const { orderId, journal, instance } of this.orders.values()) {
      const kept = wholeJournal(await this.embedded.store.pages(orderId), instance.tail).length;
      if (kept !== journal.length) lost.push(`${orderId} wrote ${journal.length} journal entries, and ${kept} are stored`);
    }
    return lost;
  }

  /** Whether the activity at a path is undone as a whole. */
  isComposite(orderId: string, path: string): boolean {
    const program = this.orders.get(orderId)?.program;
    return program !== undefined && !isRemote(nodeAt(program, path));
  }

  childrenOf(orderId: string): readonly Tracked[] {
    return [...this.orders.values()].filter(({ caller }) => caller?.orderId === orderId);
  }
}
