import { isDeepStrictEqual } from 'node:util';
import { stepOfUndo } from '#core/data/ids';
import type { Program } from '#core/definition/program';
import { failingUndos } from '#core/engine/compensation';
import type { Definitions } from '#ports/definitions';
import { announcedAs, type OrderRecord, type StateRecord } from '#ports/records';
import type { Page } from '#ports/store';
import { decodeInstance, type Instance, type JournalEntry, type StoredEntry } from '#roles/scheduler/instance';
import { shownLine } from '#roles/scheduler/recorded-events';
import type { Observation } from '#testing/world/observation';
import { type Effect, stepOf } from './effects.ts';

/** Everything observed of one order. */
export interface Tracked {
  readonly orderId: string;
  /** Undefined if its creation was not observed. */
  readonly order: OrderRecord | undefined;
  readonly caller: string | undefined;
  readonly callerPath: string | undefined;
  state: StateRecord;
  /** Undefined if its workflow version is unknown. */
  program: Program | undefined;
  /** The instance in its record. */
  instance: Instance;
  /** The instance before the last write. */
  before: Instance | undefined;
  /** The facts that the last write added to the journal, as they are shown. */
  newFacts: readonly JournalEntry[];
  /** Each journal line that was ever written, in the order of writing. */
  readonly journal: StoredEntry[];
  /** Whether a client got the answer that its submission is accepted. */
  accepted: boolean;
  /** The number of writes before its record was damaged; undefined if it never was. The content of a damaged record proves nothing. */
  damagedAt: number | undefined;
  writes: number;
  /** Keys of accepted signals. */
  readonly signals: Set<string>;
  /** Keys of signals without an answer yet. */
  readonly unansweredSignals: Set<string>;
  /** Status messages for the client in the order of sending, including repetitions. */
  readonly statuses: { readonly seq: number; readonly status: string }[];
}

/** Returns the steps of an order whose undo keeps failing. */
export const failingUndosOf = ({ program, instance }: Pick<Tracked, 'program' | 'instance'>): readonly string[] =>
  program ? failingUndos(program, instance.state) : [];

/** The settings of a history. */
interface HistoryOptions {
  readonly definitions: Pick<Definitions, 'program'>;
  /** The queue for status messages to the client. */
  readonly responseQueue: string;
}

/** The orders, effects and announcements that were observed in a world. The laws check them. */
export class History {
  readonly orders = new Map<string, Tracked>();
  /** The texts of each announcement, by id. */
  readonly announced = new Map<string, Set<string>>();
  /** Effects at services, by idempotency key. */
  readonly effects = new Map<string, Effect>();
  /** The journal pages of each order, set at the end. */
  readonly pages = new Map<string, readonly Page[]>();
  /** Ids of announcements and keys of effects of orders that were deleted after their retention. */
  readonly deletedIds = new Set<string>();
  private readonly earlyStatuses = new Map<string, { readonly seq: number; readonly status: string }[]>();

  /** The keys of the effects of each order. */
  private readonly keys = new Map<string, readonly string[]>();
  /** The orders that each order has called. */
  private readonly called = new Map<string, readonly string[]>();
  private readonly definitions: Pick<Definitions, 'program'>;
  private readonly responseQueue: string;

  constructor({ definitions, responseQueue }: HistoryOptions) {
    this.definitions = definitions;
    this.responseQueue = responseQueue;
  }

  /** Adds an observation. */
  record(observation: Observation): void {
    if (observation.type === 'written') this.recordWrite(observation);
    if (observation.type === 'published') {
      const { id, detail } = observation.announcement;
      this.announced.set(id, (this.announced.get(id) ?? new Set()).add(JSON.stringify(detail)));
    }
    if (observation.type === 'effect') this.recordEffect(observation);
    if (observation.type === 'submitted' && observation.outcome === 'accepted') {
      const order = this.orders.get(observation.orderId);
      if (order) order.accepted = true;
    }
    if (observation.type === 'damaged') {
      const order = this.orders.get(observation.orderId);
      if (order) order.damagedAt ??= order.writes;
    }
    if (observation.type === 'forgotten') for (const orderId of observation.orderIds) this.orders.delete(orderId);
    if (observation.type === 'signal') this.recordSignal(observation);
    if (observation.type === 'sent' && observation.queue === this.responseQueue) this.recordStatus(observation.body);
  }

  /** Forgets announcements, effects, pages and calls, because all orders were deleted. A later order may have the id of a deleted one. */
  startOver(): void {
    for (const name of [...this.announced.keys(), ...this.effects.keys()]) this.deletedIds.add(name);
    for (const each of [this.announced, this.effects, this.pages, this.earlyStatuses, this.called, this.keys]) each.clear();
  }

  private recordEffect({ operation, key, undoes }: Extract<Observation, { type: 'effect' }>): void {
    const known = this.effects.get(undoes ?? key);
    if (undoes !== undefined && known) known.undone = true;
    else if (known) known.times += 1;
    else if (undoes === undefined) this.addEffect(key, { operation, times: 1, undone: false });
  }

  addEffect(key: string, effect: Effect): void {
    const { orderId } = stepOf(key);
    this.effects.set(key, effect);
    this.keys.set(orderId, [...(this.keys.get(orderId) ?? []), key]);
  }

  private recordWrite({ after, order: created }: Extract<Observation, { type: 'written' }>): void {
    const known = this.orders.get(after.orderId);
    const caller = created?.caller?.orderId;
    // If the store sends messages within a write, the first status message is observed before the order.
    const statuses = this.earlyStatuses.get(after.orderId) ?? [];
    const instance = known?.state.blob === after.blob ? known.instance : decodeInstance(after);
    const order = known ?? {
      orderId: after.orderId,
      order: created,
      caller,
      callerPath: created?.caller?.path,
      state: after,
      program: undefined,
      instance,
      before: undefined,
      newFacts: [],
      journal: [],
      accepted: false,
      damagedAt: undefined,
      writes: 0,
      signals: new Set(),
      unansweredSignals: new Set(),
      statuses,
    };
    order.state = after;
    order.program = this.definitions.program(after.workflow.name, after.workflow.version);
    order.before = known?.instance;
    order.instance = instance;
    order.writes += 1;
    if (!known) this.orders.set(after.orderId, order);
    if (!known && caller !== undefined) this.called.set(caller, [...(this.called.get(caller) ?? []), after.orderId]);
    const added = instance.tail.filter(({ seq }) => seq > lastBefore(instance, known?.before));
    order.newFacts = added.map(shownLine) as readonly JournalEntry[];
    order.journal.push(...added);
  }

  private recordSignal({ orderId, key, answer }: Extract<Observation, { type: 'signal' }>): void {
    const order = this.orders.get(orderId);
    if (answer === 'pending') order?.unansweredSignals.add(key);
    else order?.unansweredSignals.delete(key);
    if (answer === 'accepted') order?.signals.add(key);
  }

  private recordStatus(body: string): void {
    const { orderId, seq, status } = JSON.parse(body) as { orderId?: string; seq: number; status: string };
    // A refused submission has no order.
    if (orderId === undefined) return;
    const statuses = this.orders.get(orderId)?.statuses ?? this.earlyStatuses.get(orderId) ?? [];
    statuses.push({ seq, status });
    if (!this.orders.has(orderId)) this.earlyStatuses.set(orderId, statuses);
  }

  /** Whether the order is finished or waits for a person, directly or through a called order. */
  isSettled(orderId: string): boolean {
    return this.orders.get(orderId)?.state.processState === 'Processed' || this.waitsForPerson(orderId);
  }

  /** Whether the order is in Error, suspended, or waits for such an order or for an undo that keeps failing. */
  waitsForPerson(orderId: string): boolean {
    const { processState, suspended } = this.orders.get(orderId)?.state ?? {};
    if (processState === 'Error' || suspended) return true;
    if (processState === 'Processing' && this.stuckUndo(orderId) !== undefined) return true;
    return processState === 'Processing' && this.calledBy(orderId).some((child) => this.waitsForPerson(child.orderId));
  }

  /** Returns the path of a step whose undo keeps failing and was announced as stuck. */
  stuckUndo(orderId: string): string | undefined {
    const order = this.orders.get(orderId);
    const failing = order ? failingUndosOf(order) : [];
    if (failing.length === 0) return undefined;
    const begin = order ? `${announcedAs(order.state)}/stuck/` : '';
    const stuck = [...this.announced.keys()].filter((id) => id.startsWith(begin));
    const paths = stuck.map((id) => stepOfUndo(id.slice(begin.length, id.lastIndexOf('/'))));
    return failing.find((path) => paths.includes(path));
  }

  /** The orders whose records were never damaged, so that their journals are reliable. */
  get sound(): readonly Tracked[] {
    return [...this.orders.values()].filter(({ damagedAt }) => damagedAt === undefined);
  }

  /** Returns the orders that an order has called. */
  calledBy(orderId: string): readonly Tracked[] {
    return (this.called.get(orderId) ?? []).flatMap((id) => this.orders.get(id) ?? []);
  }

  /** Returns the effects of an order that are not undone, by key. */
  existingEffects(orderId: string): readonly (readonly [string, Effect])[] {
    return (this.keys.get(orderId) ?? []).flatMap((key) => {
      const effect = this.effects.get(key);
      return effect && !effect.undone ? [[key, effect] as const] : [];
    });
  }
}

/** Returns the number of the last journal line that the write kept. A rebuild may have lost lines: then it is the line before `InstanceRebuilt`. */
function lastBefore({ tail }: Instance, before: Instance | undefined): number {
  const rebuilt = tail.findLast(({ type }) => type === 'InstanceRebuilt');
  const isNew = rebuilt && !before?.tail.some((entry) => isDeepStrictEqual(entry, rebuilt));
  return isNew ? rebuilt.seq - 1 : (before?.seq ?? 0);
}
