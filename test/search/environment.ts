import type { Announcement } from '#ports/event-bus';
import type { Outgoing } from '#ports/queues';
import type { OrderRecord, StateRecord } from '#ports/records';
import { loadDefinitions } from '#roles/definitions/load';
import { decodeInstance, encodeInstance, newInstance, type OrderFact } from '#roles/scheduler/instance';
import { appOn } from './app.ts';
import { afterEffect, afterSending, afterWrite, type Effects, Judgement, nothingSeen, type Seen, settingOf, type View } from './laws.ts';
import { seenFromOutside } from './names.ts';
import type { Message, Wish } from './runs.ts';
import type { Scenario } from './scenarios.ts';
import { at, begun, get, isSupervisor, now, type State } from './state.ts';
import { joined, Memo, Table } from './table.ts';

type Copies = readonly (readonly [message: number, copies: number])[];
export type Write = Extract<Wish, { readonly to: 'create' | 'update' | 'patch' }>;

const responses = 'redress-response-client';
const writeIdsKept = 4;

const orderOf = (workflow: string): OrderRecord => ({
  orderId: 'ord_1',
  client: 'client',
  workflow: { name: workflow, version: 1 },
  body: { item: 'tea' },
  hash: 'hash',
  responseChannel: responses,
  submittedAt: begun,
  answer: '{}',
});

/** Everything outside the roles: the store with its one order, the queues, the service, and the laws. */
export class Environment {
  readonly order: OrderRecord;
  readonly records = new Table<StateRecord>();
  readonly messages = new Table<Message>();
  readonly judgement: Judgement;
  private readonly scenario: Scenario;
  private readonly queues = new Table<Copies>();
  private readonly effects = new Table<Effects>();
  private readonly seen = new Table<Seen>();
  private readonly times = new Table<number>();
  private readonly changes = new Table<{ readonly id: number; readonly facts: readonly OrderFact[] }>();
  private readonly memo = { changes: new Memo<number>(), queues: new Memo<number>(), laws: new Memo<number | string>() };

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.order = orderOf(scenario.workflow);
    const app = appOn(async () => 'done');
    const { name, version } = this.order.workflow;
    const setting = settingOf(app, { client: this.order.client, responseQueue: responses });
    this.judgement = new Judgement(setting, loadDefinitions(app).program(name, version));
  }

  /** Sets the initial state: nothing is stored, and nothing has happened. */
  begin(state: State): void {
    state[at.queue] = this.queues.id([]);
    state[at.effects] = this.effects.id({});
    state[at.seen] = this.seen.id(nothingSeen);
  }

  recordOf(state: State): StateRecord | undefined {
    const id = get(state, at.record);
    return id === 0 ? undefined : this.records.of(id);
  }

  /** Returns a small number for the current time. */
  timeOf(state: State): number {
    return this.times.id(get(state, at.now), `${get(state, at.now)}`);
  }

  /** Returns the ids of messages with a copy that may arrive. */
  waiting(state: State): readonly number[] {
    return this.queues.of(get(state, at.queue)).map(([id]) => id);
  }

  wrongAtEnd(state: State): readonly string[] {
    return this.judgement.ofEnd(this.view(state));
  }

  private view(state: State): View {
    return { record: this.recordOf(state), seen: this.seen.of(get(state, at.seen)), effects: this.effects.of(get(state, at.effects)) };
  }

  /** Whether the fence of a write holds. */
  holds(state: State, wish: Write): boolean {
    const current = this.recordOf(state);
    return wish.to === 'create' ? !current : current?.rev === wish.when.rev && current.epoch === wish.when.epoch;
  }

  /** Writes into the state; returns the violation, in words. `point`: the place of the writer in its run. */
  write(state: State, place: number, point: number, wish: Write): string | undefined {
    const current = this.recordOf(state);
    const key = joined(joined(point, 22, get(state, at.record)), 5, place);
    const change = this.memo.changes.of(key, () => this.changes.id(this.stored(wish, current, place), `${key}`));
    const { id, facts } = this.changes.of(change);
    const seen = get(state, at.seen);
    const law = this.memo.laws.of(joined(joined(change, 14, seen), 12, this.timeOf(state)), () => {
      const before = this.seen.of(seen);
      const written = { before: current, after: this.records.of(id), facts, at: now(state) };
      const wrong = this.judgement.ofWrite(written, before);
      return wrong ?? this.seen.id(afterWrite(before, written));
    });
    state[at.record] = id;
    if (typeof law === 'string') return law;
    state[at.seen] = law;
    return undefined;
  }

  /**
   * The record as the store keeps it. The laws read the journal as it is written, and no role reads it later, so it is
   * left out.
   */
  private stored(wish: Write, current: StateRecord | undefined, place: number) {
    // The fence holds, so the writer has seen these ids; some of their writers have ended since, and are forgotten.
    const writeIds = current?.writeIds ?? [];
    if (wish.to === 'patch') {
      const patched = seenFromOutside({ ...wish.head, updatedAt: 0, blob: current?.blob ?? '' }, place);
      const lockedBy = isSupervisor(place) && current ? patched.lockedBy && current.lockedBy : patched.lockedBy;
      return { id: this.records.id({ ...patched, lockedBy, writeIds }), facts: [] };
    }
    const { tail, ...instance } = decodeInstance(wish.record);
    const blob = encodeInstance({ ...instance, tail: [], seq: newInstance.seq });
    const facts = tail.map(({ seq: _, ...fact }) => fact as OrderFact);
    const stored = seenFromOutside({ ...wish.record, updatedAt: 0, blob }, place);
    const ids = [...writeIds, ...stored.writeIds.slice(-1)].slice(-writeIdsKept);
    return { id: this.records.id({ ...stored, writeIds: ids }), facts };
  }

  /** Adds the copies of each message, which may arrive from now on. A message to the client arrives at once. */
  send(state: State, messages: readonly Outgoing[]): string | undefined {
    for (const { queue, body } of messages) {
      if (queue !== responses) {
        this.put(state, this.messages.id({ queue, body }), this.scenario.copies);
        continue;
      }
      const wrong = this.judgement.ofSending({ type: 'sent', queue, body, delayMs: 0 }, this.view(state));
      if (wrong) return wrong;
      const status = JSON.parse(body) as { readonly seq: number; readonly status: string };
      this.sent(state, `${this.order.orderId}/status/${status.seq}`, status);
    }
    return undefined;
  }

  publish(state: State, announcement: Announcement): string | undefined {
    const wrong = this.judgement.ofSending({ type: 'published', announcement }, this.view(state));
    if (!wrong) this.sent(state, announcement.id);
    return wrong;
  }

  private sent(state: State, id: string, status?: { readonly seq: number; readonly status: string }): void {
    state[at.seen] = this.seen.id(afterSending(this.seen.of(get(state, at.seen)), id, status));
  }

  /** Returns the possible answers of the service. It keeps its keys, and answers the same key in the same way. */
  answers(state: State, { operation, key }: Extract<Wish, { readonly to: 'serve' }>): readonly ('done' | 'refused')[] {
    const known = this.effects.of(get(state, at.effects))[key];
    if (known) return [known.is === 'refused' ? 'refused' : 'done'];
    return operation === 'charge' && this.scenario.refuses ? ['done', 'refused'] : ['done'];
  }

  serve(state: State, { operation, key, undoes }: Extract<Wish, { readonly to: 'serve' }>, answer: 'done' | 'refused'): string | undefined {
    const before = this.effects.of(get(state, at.effects));
    if (before[key]) return undefined;
    const effect = { type: 'effect', operation, key, ...(undoes === undefined ? {} : { undoes }) } as const;
    const wrong = answer === 'refused' ? undefined : this.judgement.ofEffect(effect, this.view(state));
    state[at.effects] = this.effects.id(afterEffect(before, effect, answer === 'refused'));
    return wrong;
  }

  put(state: State, message: number, copies: number): void {
    const queue = get(state, at.queue);
    state[at.queue] = this.memo.queues.of(joined(joined(queue, 20, message), 2, copies), () => {
      const before = this.queues.of(queue);
      const count = Math.min(this.scenario.copies, copies + (before.find(([id]) => id === message)?.[1] ?? 0));
      const after = [...before.filter(([id]) => id !== message), [message, count] as const];
      return this.queues.id(after.toSorted(([one], [other]) => one - other));
    });
  }

  /** Removes one copy. */
  take(state: State, message: number): void {
    const queue = get(state, at.queue);
    state[at.queue] = this.memo.queues.of(joined(joined(queue, 20, message), 2, 0), () => {
      const after = this.queues.of(queue).map(([id, count]) => [id, id === message ? count - 1 : count] as const);
      return this.queues.id(after.filter(([, count]) => count > 0));
    });
  }

  /** Returns the part of a state that the story shows. */
  told(state: State): string {
    const record = this.recordOf(state);
    if (!record) return 'nothing is stored';
    const { processState, outcome, rev, epoch, failureCount, outbox } = record;
    const left = outbox.map(({ id }) => id).join(' ') || 'empty';
    return `${outcome ?? processState}, rev ${rev}, epoch ${epoch}, failures ${failureCount}, outbox ${left}`;
  }
}
