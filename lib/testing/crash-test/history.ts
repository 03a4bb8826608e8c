import type { Embedded } from '#adapters/sqlite/open';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import type { CallerRef, ProcessState, StateRecord } from '#ports/records';
import { decodeInstance, type Instance, type JournalEntry } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import { inside } from '#testing/rehearse/player';

/** One order, and all that was written of it. */
export interface Tracked {
  readonly orderId: string;
  readonly caller: CallerRef | undefined;
  readonly program: Program;
  /** Before the paths of what it asks for: empty, or `order/ship-one > `. */
  readonly label: string;
  state: StateRecord;
  instance: Instance;
  /** Oldest first. */
  readonly journal: JournalEntry[];
}

const next: { readonly [state in ProcessState]: readonly ProcessState[] } = {
  Pending: ['Processing', 'Error', 'Processed'],
  Processing: ['Pending', 'Processed', 'Error'],
  Error: ['Processing', 'Processed'],
  Processed: [],
};

/** What is stored, looked at after everything that happens: whoever writes, each write is seen. */
export class History {
  readonly orders = new Map<string, Tracked>();
  /** What was wrong with a write, in words. */
  readonly broken: string[] = [];
  private readonly embedded: Embedded;
  private readonly definitions: Definitions;

  constructor(embedded: Embedded, definitions: Definitions) {
    this.embedded = embedded;
    this.definitions = definitions;
  }

  /** Orders that were written since the last look. */
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
    if (!found) throw new Error(`The order ${orderId} has a state, and is not stored.`);
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
    if (!program) throw new Error(`The order ${orderId} runs a workflow that nobody knows.`);
    const caller = order.caller;
    const callers = caller && this.orders.get(caller.orderId);
    const label = caller ? inside(`${callers?.label ?? ''}${caller.path}`) : '';
    const tracked = { orderId, caller, program, label, state, instance, journal: [] };
    if (state.rev !== 1) this.broken.push(`${orderId} begins with rev ${state.rev}`);
    this.orders.set(orderId, tracked);
    this.extend(tracked);
    return tracked;
  }

  /** S1, S2, S4: of two who write one wins, claims and resets have a new epoch, and states follow each other as they may. */
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
      [after.failureCount > before.failureCount + 1, `${after.failureCount - before.failureCount} expiries are counted at once`],
      [from !== 'Error' && to === 'Error' && after.errorGen !== before.errorGen + 1, 'it goes into Error without a new alert'],
    ];
    for (const [isBroken, what] of problems) if (isBroken) this.broken.push(`${orderId}: ${what}`);
  }

  /** S5: every line of a journal is written once, has the number behind the one before it, and never changes. */
  private extend({ orderId, journal, instance: { tail, seq } }: Tracked): void {
    for (const entry of tail) {
      const known = journal[entry.seq - 1];
      if (known) {
        if (JSON.stringify(known) !== JSON.stringify(entry)) this.broken.push(`${orderId}: line ${entry.seq} of the journal has changed`);
        continue;
      }
      if (entry.seq !== journal.length + 1)
        this.broken.push(`${orderId}: line ${journal.length} of the journal is followed by ${entry.seq}`);
      journal.push(entry);
    }
    if (seq !== journal.length) this.broken.push(`${orderId}: the journal has ${journal.length} lines and says ${seq}`);
  }

  /** What of a journal is kept: as many lines as were written. */
  async checkKept(): Promise<readonly string[]> {
    const lost: string[] = [];
    for (const { orderId, journal, instance } of this.orders.values()) {
      const kept = wholeJournal(await this.embedded.store.pages(orderId), instance.tail).length;
      if (kept !== journal.length) lost.push(`${orderId} has written ${journal.length} lines of its journal, and ${kept} are left`);
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
