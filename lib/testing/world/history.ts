import { isDeepStrictEqual } from 'node:util';
import type { Program } from '#core/definition/program';
import { failingUndos } from '#core/engine/compensation';
import type { Definitions } from '#ports/definitions';
import { announcedAs, type StateRecord } from '#ports/records';
import type { Page } from '#ports/store';
import { decodeInstance, type Instance, type JournalEntry } from '#roles/scheduler/instance';
import type { Observation } from '#testing/world/observation';
import { type Effect, stepOf } from './effects.ts';

/** One order, as observed so far. */
export interface Tracked {
  readonly orderId: string;
  readonly caller: string | undefined;
  readonly callerPath: string | undefined;
  state: StateRecord;
  /** Undefined if the app has no definition of its workflow. */
  program: Program | undefined;
  /** The decoded blob of the state. */
  instance: Instance;
  /** The decoded blob before the last write. */
  before: Instance | undefined;
  /** The entries that the last write added to the journal. */
  news: readonly JournalEntry[];
  /** The whole journal, oldest first. */
  readonly journal: JournalEntry[];
  accepted: boolean;
  /** The number of writes before it was damaged; undefined if it never was. The record of a damaged order proves nothing. */
  damagedAt: number | undefined;
  writes: number;
  /** Accepted signals, and signals without an answer. */
  readonly signals: Set<string>;
  readonly unheard: Set<string>;
  /** Status messages to the client in the order of sending, with repetitions. */
  readonly statuses: { readonly seq: number; readonly status: string }[];
}

/** Returns the steps of an order whose undo keeps failing. */
export const failingUndosOf = ({ program, instance }: Pick<Tracked, 'program' | 'instance'>): readonly string[] =>
  program ? failingUndos(program, instance.state) : [];

/** The facts that a history needs beside observations. */
interface Told {
  readonly definitions: Pick<Definitions, 'program'>;
  /** The queue on which the client listens. */
  readonly responseQueue: string;
}

/** All observations of a run, by order. Laws judge it. */
export class History {
  readonly orders = new Map<string, Tracked>();
  /** The announcements, by id: every text that was announced under it. */
  readonly announced = new Map<string, Set<string>>();
  /** Effects at services, by idempotency key. */
  readonly effects = new Map<string, Effect>();
  /** The stored pages of each journal, once the run rests. */
  readonly pages = new Map<string, readonly Page[]>();
  /** Ids of announcements and keys of effects of forgotten orders. */
  readonly former = new Set<string>();
  private readonly early = new Map<string, { readonly seq: number; readonly status: string }[]>();

  /** The keys of the effects of each order. */
  private readonly keys = new Map<string, readonly string[]>();
  /** The orders that each order has called. */
  private readonly called = new Map<string, readonly string[]>();
  private readonly definitions: Pick<Definitions, 'program'>;
  private readonly responseQueue: string;

  constructor({ definitions, responseQueue }: Told) {
    this.definitions = definitions;
    this.responseQueue = responseQueue;
  }

  take(observation: Observation): void {
    if (observation.type === 'written') this.written(observation);
    if (observation.type === 'published') {
      const { id, detail } = observation.announcement;
      this.announced.set(id, (this.announced.get(id) ?? new Set()).add(JSON.stringify(detail)));
    }
    if (observation.type === 'effect') this.takesEffect(observation);
    if (observation.type === 'submitted' && observation.outcome === 'accepted') {
      const order = this.orders.get(observation.orderId);
      if (order) order.accepted = true;
    }
    if (observation.type === 'damaged') {
      const order = this.orders.get(observation.orderId);
      if (order) order.damagedAt ??= order.writes;
    }
    if (observation.type === 'forgotten') for (const orderId of observation.orderIds) this.orders.delete(orderId);
    if (observation.type === 'signal') this.signaled(observation);
    if (observation.type === 'sent' && observation.queue === this.responseQueue) this.told(observation.body);
  }

  /** Starts again after all orders were forgotten. A new order may have the id of one of them. */
  startAgain(): void {
    for (const name of [...this.announced.keys(), ...this.effects.keys()]) this.former.add(name);
    for (const each of [this.announced, this.effects, this.pages, this.early, this.called, this.keys]) each.clear();
  }

  private takesEffect({ operation, key, undoes }: Extract<Observation, { type: 'effect' }>): void {
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

  private written({ after, caller, callerPath }: Extract<Observation, { type: 'written' }>): void {
    const known = this.orders.get(after.orderId);
    // A message in the transaction of the write that creates the order is observed first.
    const statuses = this.early.get(after.orderId) ?? [];
    const instance = known?.state.blob === after.blob ? known.instance : decodeInstance(after);
    const order = known ?? {
      orderId: after.orderId,
      caller,
      callerPath,
      state: after,
      program: undefined,
      instance,
      before: undefined,
      news: [],
      journal: [],
      accepted: false,
      damagedAt: undefined,
      writes: 0,
      signals: new Set(),
      unheard: new Set(),
      statuses,
    };
    order.state = after;
    order.program = this.definitions.program(after.workflow.name, after.workflow.version);
    order.before = known?.instance;
    order.instance = instance;
    order.writes += 1;
    if (!known) this.orders.set(after.orderId, order);
    if (!known && caller !== undefined) this.called.set(caller, [...(this.called.get(caller) ?? []), after.orderId]);
    order.news = instance.tail.filter(({ seq }) => seq > lastBefore(instance, known?.before));
    order.journal.push(...order.news);
  }

  private signaled({ orderId, key, answer }: Extract<Observation, { type: 'signal' }>): void {
    const order = this.orders.get(orderId);
    if (answer === 'none yet') order?.unheard.add(key);
    else order?.unheard.delete(key);
    if (answer === 'accepted') order?.signals.add(key);
  }

  private told(body: string): void {
    const { orderId, seq, status } = JSON.parse(body) as { orderId?: string; seq: number; status: string };
    // A refused submission has no order.
    if (orderId === undefined) return;
    const statuses = this.orders.get(orderId)?.statuses ?? this.early.get(orderId) ?? [];
    statuses.push({ seq, status });
    if (!this.orders.has(orderId)) this.early.set(orderId, statuses);
  }

  /** Whether the order is finished, or waits for a person. */
  isSettled(orderId: string): boolean {
    return this.orders.get(orderId)?.state.processState === 'Processed' || this.waitsForPerson(orderId);
  }

  waitsForPerson(orderId: string): boolean {
    const { processState, suspended } = this.orders.get(orderId)?.state ?? {};
    if (processState === 'Error' || suspended) return true;
    if (processState === 'Processing' && this.stuckUndo(orderId) !== undefined) return true;
    return processState === 'Processing' && this.childrenOf(orderId).some((child) => this.waitsForPerson(child.orderId));
  }

  /** Returns the path of a step whose undo keeps failing, if an alert says so. */
  stuckUndo(orderId: string): string | undefined {
    const order = this.orders.get(orderId);
    const failing = order ? failingUndosOf(order) : [];
    if (failing.length === 0) return undefined;
    const begin = order ? `${announcedAs(order.state)}/stuck/` : '';
    const told = [...this.announced.keys()].filter((id) => id.startsWith(begin));
    const paths = told.map((id) => id.slice(begin.length, id.lastIndexOf('/')).replace(/\/undo$/, ''));
    return failing.find((path) => paths.includes(path));
  }

  /** The orders that were never damaged: their journals are true. */
  get sound(): readonly Tracked[] {
    return [...this.orders.values()].filter(({ damagedAt }) => damagedAt === undefined);
  }

  childrenOf(orderId: string): readonly Tracked[] {
    return (this.called.get(orderId) ?? []).flatMap((id) => this.orders.get(id) ?? []);
  }

  /** Returns the effects of an order that exist now, by key. */
  standing(orderId: string): readonly (readonly [string, Effect])[] {
    return (this.keys.get(orderId) ?? []).flatMap((key) => {
      const effect = this.effects.get(key);
      return effect && !effect.undone ? [[key, effect] as const] : [];
    });
  }
}

/** Returns the last number of the journal before a write. A rebuilt journal that has lost entries continues from a smaller one. */
function lastBefore({ tail }: Instance, before: Instance | undefined): number {
  const rebuilt = tail.findLast(({ type }) => type === 'InstanceRebuilt');
  const isNew = rebuilt && !before?.tail.some((entry) => isDeepStrictEqual(entry, rebuilt));
  return isNew ? rebuilt.seq - 1 : (before?.seq ?? 0);
}
