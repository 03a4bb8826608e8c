import { isDeepStrictEqual } from 'node:util';
import type { Program } from '#core/definition/program';
import { failingUndos } from '#core/engine/compensation';
import type { Definitions } from '#ports/definitions';
import { announcedAs, type StateRecord } from '#ports/records';
import type { Page } from '#ports/store';
import { decodeInstance, type Instance, type JournalEntry } from '#roles/scheduler/instance';
import type { Observation } from '#testing/world/observation';
import type { Effect } from './effects.ts';

/** What has become of one order so far. */
export interface Tracked {
  readonly orderId: string;
  readonly caller: string | undefined;
  state: StateRecord;
  /** Undefined where no definition of its workflow is known. */
  program: Program | undefined;
  /** What lies in its blob. */
  instance: Instance;
  /** What lay there before the last write. */
  before: Instance | undefined;
  /** What the last write added to the journal. */
  news: readonly JournalEntry[];
  /** The whole journal, oldest first. */
  readonly journal: JournalEntry[];
  accepted: boolean;
  /** How often it was written when it was damaged; undefined while it never was. What it says of itself proves nothing any more. */
  damagedAt: number | undefined;
  writes: number;
  /** Signals that were let in, and those of which the sender has not heard. */
  readonly signals: Set<string>;
  readonly unheard: Set<string>;
  /** Status messages for the client, in the order in which they were sent, repeated ones too. */
  readonly statuses: { readonly seq: number; readonly status: string }[];
}

/** What a history needs beside what was seen. */
interface Told {
  readonly definitions: Pick<Definitions, 'program'>;
  /** Where the client listens. */
  readonly responseQueue: string;
}

/** All that was seen of a world: what the laws are about. */
export class History {
  readonly orders = new Map<string, Tracked>();
  /** What was announced, by its id: every text under which it was. */
  readonly announced = new Map<string, Set<string>>();
  readonly effects: Map<string, Effect>;
  /** By order, once everything has come to rest: what of its journal lies in pages. */
  readonly pages = new Map<string, readonly Page[]>();
  /** Ids of announcements, and keys of effects, of orders that were forgotten. */
  readonly former = new Set<string>();
  private readonly early = new Map<string, { readonly seq: number; readonly status: string }[]>();

  private readonly definitions: Pick<Definitions, 'program'>;
  private readonly responseQueue: string;

  constructor(effects: Map<string, Effect>, { definitions, responseQueue }: Told) {
    this.effects = effects;
    this.definitions = definitions;
    this.responseQueue = responseQueue;
  }

  record(observation: Observation): void {
    if (observation.type === 'written') this.written(observation);
    if (observation.type === 'published') {
      const { id, detail } = observation.announcement;
      this.announced.set(id, (this.announced.get(id) ?? new Set()).add(JSON.stringify(detail)));
    }
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

  /** What was seen so far was of orders that are forgotten. Another one may have the id of one of them. */
  startOver(): void {
    for (const name of [...this.announced.keys(), ...this.effects.keys()]) this.former.add(name);
    for (const each of [this.announced, this.effects, this.pages, this.early]) each.clear();
  }

  private written({ after, caller }: Extract<Observation, { type: 'written' }>): void {
    const known = this.orders.get(after.orderId);
    // Where a message travels with the very write that makes the order, it is seen first.
    const statuses = this.early.get(after.orderId) ?? [];
    const instance = known?.state.blob === after.blob ? known.instance : decodeInstance(after);
    const order = known ?? {
      orderId: after.orderId,
      caller,
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
    order.news = instance.tail.filter(({ seq }) => seq > lastBefore(instance, known?.before));
    order.journal.push(...order.news);
  }

  private signaled({ orderId, key, answer }: Extract<Observation, { type: 'signal' }>): void {
    const order = this.orders.get(orderId);
    if (answer === 'pending') order?.unheard.add(key);
    else order?.unheard.delete(key);
    if (answer === 'accepted') order?.signals.add(key);
  }

  private told(body: string): void {
    const { orderId, seq, status } = JSON.parse(body) as { orderId?: string; seq: number; status: string };
    // Of what was refused there is no order.
    if (orderId === undefined) return;
    const statuses = this.orders.get(orderId)?.statuses ?? this.early.get(orderId) ?? [];
    statuses.push({ seq, status });
    if (!this.orders.has(orderId)) this.early.set(orderId, statuses);
  }

  /** Finished, in front of a person, or waiting for an order that is. */
  isSettled(orderId: string): boolean {
    return this.orders.get(orderId)?.state.processState === 'Processed' || this.waitsForPerson(orderId);
  }

  waitsForPerson(orderId: string): boolean {
    const { processState, suspended } = this.orders.get(orderId)?.state ?? {};
    if (processState === 'Error' || suspended) return true;
    if (processState === 'Processing' && this.stuckUndo(orderId) !== undefined) return true;
    return processState === 'Processing' && this.childrenOf(orderId).some((child) => this.waitsForPerson(child.orderId));
  }

  /** Path of a step whose undo does not succeed, and of which a person was told. */
  stuckUndo(orderId: string): string | undefined {
    const order = this.orders.get(orderId);
    const failing = order ? failingUndos(order.instance.state) : [];
    if (failing.length === 0) return undefined;
    const begin = order ? `${announcedAs(order.state)}/stuck/` : '';
    const told = [...this.announced.keys()].filter((id) => id.startsWith(begin));
    const paths = told.map((id) => id.slice(begin.length, id.lastIndexOf('/')).replace(/\/undo$/, ''));
    return failing.find((path) => paths.includes(path));
  }

  /** Orders of which nothing was damaged: what their journals say is what happened. */
  get sound(): readonly Tracked[] {
    return [...this.orders.values()].filter(({ damagedAt }) => damagedAt === undefined);
  }

  childrenOf(orderId: string): readonly Tracked[] {
    return [...this.orders.values()].filter(({ caller }) => caller === orderId);
  }

  /** Effects that are there now, by key, of one order. */
  standing(orderId: string): readonly (readonly [string, Effect])[] {
    return [...this.effects].filter(([key, { undone }]) => !undone && key.startsWith(`${orderId}/`));
  }
}

/** The last line that its journal had before. One that is rebuilt without the lines that are lost counts on from less. */
function lastBefore({ tail }: Instance, before: Instance | undefined): number {
  const rebuilt = tail.findLast(({ type }) => type === 'InstanceRebuilt');
  const isNew = rebuilt && !before?.tail.some((entry) => isDeepStrictEqual(entry, rebuilt));
  return isNew ? rebuilt.seq - 1 : (before?.seq ?? 0);
}
