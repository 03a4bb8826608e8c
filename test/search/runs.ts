import type { SQSBatchResponse } from 'aws-lambda';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Announcement } from '#ports/event-bus';
import type { Outgoing } from '#ports/queues';
import { type OrderRecord, type StateHead, type StateRecord, shardOf } from '#ports/records';
import type { Fence, Write } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { createScheduler } from '#roles/scheduler/scheduler';
import { createSupervisor } from '#roles/supervisor/supervisor';
import { queueEvent } from '#runtime/host/event-source';
import type { Ports, System } from '#runtime/system';
import { create as agentFunction } from '../../functions/agent.ts';
import { create as schedulerFunction } from '../../functions/scheduler.ts';
import { appOn } from './app.ts';
import { me } from './names.ts';
import { Table } from './table.ts';

/** A message with a copy that may still arrive. */
export interface Message {
  readonly queue: string;
  readonly body: string;
}

/** The supervisor's memory of its last wake-up. */
export interface Woken {
  readonly head: StateHead;
  readonly at: number;
}

/** One run of a role, from its trigger. */
export type Invocation =
  | { readonly role: 'submission'; readonly order: OrderRecord; readonly at: number }
  | { readonly role: 'cancellation'; readonly at: number }
  | { readonly role: 'scheduler' | 'agent'; readonly message: Message; readonly at: number }
  | { readonly role: 'supervisor'; readonly woken: Woken | undefined; readonly at: number };

/** A port call of a run; the run waits for its answer. */
export type Wish =
  | { readonly to: 'create'; readonly record: StateRecord }
  | { readonly to: 'load' | 'head' }
  | { readonly to: 'update'; readonly record: StateRecord; readonly when: Fence }
  | { readonly to: 'patch'; readonly head: StateHead; readonly when: Fence }
  | { readonly to: 'send'; readonly messages: readonly Outgoing[] }
  | { readonly to: 'publish'; readonly announcements: readonly Announcement[] }
  | { readonly to: 'serve'; readonly operation: string; readonly key: string; readonly undoes?: string };

/** `record`: the record that was read, or that has won a race. */
export interface Answer {
  readonly at: number;
  readonly said: 'found' | 'nothing' | 'written' | 'refused' | 'done';
  readonly record?: StateRecord;
}

/** The place of a run after some answers: it waits for a port call, or is over. `failed`: its message is redelivered. */
export type Standing = { readonly wish: Wish } | { readonly over: 'done' | 'failed' };

/** A run's course follows from its trigger and its answers, so it can be repeated up to any place. */
interface Point {
  readonly invocation: number;
  readonly before: number;
  readonly answer: number;
}

/**
 * Replays of the shipped roles, from the beginning of a run to its wait for the next answer. Each place is examined once,
 * and kept under a number.
 */
export class Runs {
  readonly answers = new Table<Answer>();
  readonly invocations = new Table<Invocation>();
  readonly wishes = new Table<Wish>();
  private readonly points = new Table<Point>();
  private readonly standings: (number | 'done' | 'failed' | undefined)[] = [];
  private readonly replayer: Replayer;
  private unknown: number[] = [];

  constructor(order: OrderRecord) {
    this.replayer = new Replayer(order);
  }

  get size(): number {
    return this.points.size;
  }

  begin(invocation: number): number {
    return this.points.id({ invocation, before: 0, answer: 0 }, `${invocation}`);
  }

  /**
   * Returns the place after an answer. A run keeps only the last one of several lost races in a row. Otherwise, every
   * way to lose would be a separate place.
   */
  next(point: number, answer: number): number {
    const { invocation, before, answer: last } = this.points.of(point);
    const hasLost = last !== 0 && this.answers.of(last).said === 'refused' && this.patches(before) && this.patches(point);
    const from = hasLost ? before : point;
    return this.points.id({ invocation, before: from, answer }, `${from},${answer}`);
  }

  private patches(point: number): boolean {
    const standing = this.standings[point];
    return typeof standing === 'number' && this.wishes.of(standing).to === 'patch';
  }

  /** Returns the place of a read after a lost race: the beginning of the run. */
  readsAnew(point: number): number | undefined {
    const { invocation, before, answer } = this.points.of(point);
    const standing = this.standings[point];
    const reads = typeof standing === 'number' && this.wishes.of(standing).to === 'load';
    return reads && before !== 0 && this.answers.of(answer).said === 'refused' ? this.begin(invocation) : undefined;
  }

  /**
   * Returns the number of the port call; undefined if the place is unknown. The caller then waits for `look`, which
   * examines the place, and calls this again.
   */
  standing(point: number): number | 'done' | 'failed' | undefined {
    const known = this.standings[point];
    if (known === undefined) this.unknown.push(point);
    return known;
  }

  invocationOf(point: number): Invocation {
    return this.invocations.of(this.points.of(point).invocation);
  }

  /** Returns the answers on the way to a place, oldest first. */
  answersOf(point: number): readonly Answer[] {
    const { before, answer } = this.points.of(point);
    return before === 0 ? [] : [...this.answersOf(before), this.answers.of(answer)];
  }

  async look(): Promise<void> {
    const points = this.unknown;
    this.unknown = [];
    for (const point of points) {
      if (this.standings[point] !== undefined) continue;
      const standing = await this.replayer.replay(this.invocationOf(point), this.answersOf(point));
      this.standings[point] = 'wish' in standing ? this.wishes.id(standing.wish) : standing.over;
    }
  }
}

/** One run at a time, on ports that answer from a list. */
class Replayer {
  private readonly order: OrderRecord;
  private readonly definitions: Definitions;
  private readonly ports: Pick<Ports, 'store' | 'queues' | 'publisher' | 'clock' | 'telemetry'>;
  private answers: readonly Answer[] = [];
  private answered = 0;
  private now = 0;
  private wish: Wish | undefined;
  private notModelled: string | undefined;

  constructor(order: OrderRecord) {
    this.order = order;
    this.definitions = loadDefinitions(
      appOn((operation, { idempotencyKey: key }, undoes) =>
        this.ask({ to: 'serve', operation, key, ...(undoes === undefined ? {} : { undoes }) }).then(({ said }) =>
          said === 'refused' ? 'refused' : 'done',
        ),
      ),
    );
    this.ports = { ...this.outside(), clock: this.clock(), telemetry: createTelemetry({ level: 'off' }) };
  }

  async replay(invocation: Invocation, answers: readonly Answer[]): Promise<Standing> {
    Object.assign(this, { answers, answered: 0, now: invocation.at, wish: undefined });
    let over: Standing | undefined;
    void this.run(invocation).then(
      (failed) => (over = { over: failed ? 'failed' : 'done' }),
      () => (over = { over: 'failed' }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    if (this.notModelled) throw new Error(`A ${invocation.role} wants ${this.notModelled}, which is not modelled.`);
    if (over) return over;
    if (this.wish === undefined) throw new Error(`A ${invocation.role} waits for something that is not modelled.`);
    return { wish: this.wish };
  }

  private ask(wish: Wish): Promise<Answer> {
    const answer = this.answers[this.answered];
    if (answer) {
      this.answered += 1;
      this.now = answer.at;
      return Promise.resolve(answer);
    }
    if (this.wish) throw new Error(`Two wishes at once: ${this.wish.to} and ${wish.to}.`);
    this.wish = wish;
    return new Promise(() => {});
  }

  /** Runs the role; returns whether it failed, so that its message is redelivered. */
  private async run(invocation: Invocation): Promise<boolean> {
    switch (invocation.role) {
      case 'submission':
        await this.scheduler().create(invocation.order, { claim: false, stepMs: 60_000, maxFailures: 1 });
        return false;
      case 'cancellation': {
        const decision = { kind: 'cancel', by: 'client', reason: 'changed its mind' } as const;
        await this.scheduler().instruct(this.order.orderId, decision, { id: 'cancel' });
        return false;
      }
      case 'scheduler':
        return this.handle(schedulerFunction(this.context({ scheduler: this.scheduler() })), invocation.message);
      case 'agent':
        return this.handle(agentFunction(this.context({})), invocation.message);
      case 'supervisor':
        await this.supervise(invocation);
        return false;
    }
  }

  private scheduler() {
    return createScheduler({ ...this.ports, definitions: this.definitions, hostId: me });
  }

  private context(more: Partial<System>) {
    const outages: System['outages'] = { met: () => {}, areRecent: () => false };
    const visibilityMsOf = (): number => 0;
    const system = {
      ...this.ports,
      definitions: this.definitions,
      outages,
      visibilityMsOf,
      random: () => 0.5,
      ...more,
    } as unknown as System;
    return { system, environment: { REDRESS_AGENTS: 'shop' }, accepting: () => true };
  }

  private async handle(
    handler: (event: never, invocation: never) => Promise<SQSBatchResponse>,
    { queue, body }: Message,
  ): Promise<boolean> {
    const event = queueEvent(queue, [{ messageId: 'm', body, receiveCount: 1, sentAt: 0, receipt: 'r' }]);
    const { batchItemFailures } = await handler(event as never, { stopping: new AbortController().signal } as never);
    return batchItemFailures.length > 0;
  }

  /** Repeats an earlier wake-up of the supervisor on ports without effect, so that it remembers it. */
  private async supervise({ woken, at }: Extract<Invocation, { role: 'supervisor' }>): Promise<void> {
    const { store, queues, publisher, clock, telemetry } = this.ports;
    let remembering = woken;
    const supervisor = createSupervisor({
      clock: { ...clock, now: () => remembering?.at ?? clock.now() },
      telemetry,
      publisher,
      store: { ...store, head: async (orderId) => remembering?.head ?? store.head(orderId) },
      queues: { ...queues, send: async (messages) => (remembering ? undefined : queues.send(messages)) },
    });
    if (woken) await supervisor.pass();
    remembering = undefined;
    this.now = at;
    await supervisor.pass();
  }

  private clock(): Clock {
    return {
      now: () => this.now,
      // A sleep that another event can end does not end by itself: time moves only between two answers.
      sleep: (_, signal) => (signal ? new Promise((resolve) => signal.addEventListener('abort', () => resolve())) : Promise.resolve()),
    };
  }

  private outside(): Pick<Ports, 'store' | 'queues' | 'publisher'> {
    const { order } = this;
    const writeOf = ({ said, record }: Answer): Write =>
      said === 'refused' ? { outcome: 'refused', current: record ?? null } : { outcome: 'written' };
    const store: Partial<Ports['store']> = {
      writesAndSendsAtomically: false,
      create: async (_, record) =>
        (await this.ask({ to: 'create', record })).said === 'refused' ? { outcome: 'exists', order } : { outcome: 'written' },
      load: async () => {
        const { record } = await this.ask({ to: 'load' });
        return record && { order, state: record };
      },
      head: async () => {
        const { record } = await this.ask({ to: 'head' });
        if (!record) return undefined;
        const { blob: _, ...head } = record;
        return head;
      },
      update: async (record, { epoch, rev }) => writeOf(await this.ask({ to: 'update', record, when: { epoch, rev } })),
      patch: async (state, { epoch, rev }) => {
        const { blob: _, ...head } = state as StateRecord;
        return writeOf(await this.ask({ to: 'patch', head, when: { epoch, rev } }));
      },
      due: async (_, shard) => (shard === shardOf(order.orderId) ? [order.orderId] : []),
      // Its services answer or stay silent: none has an open circuit breaker.
      breaker: async () => undefined,
      // Its messages are valid: no failure is counted, and no channel is closed.
      document: async () => undefined,
      documents: async () => [],
      putDocument: async () => ({ outcome: 'written' }),
      removeDocument: async () => ({ outcome: 'written' }),
    };
    return {
      store: this.modelled(store),
      queues: this.modelled<Ports['queues']>({
        send: async (messages) => {
          if (messages.length > 0) await this.ask({ to: 'send', messages });
        },
      }),
      publisher: {
        publish: async (announcements) => {
          await this.ask({ to: 'publish', announcements });
          return { failed: [] };
        },
      },
    };
  }

  /** Records calls of methods without a model: a role would take the exception for an outage. */
  private modelled<T extends object>(port: Partial<T>): T {
    return new Proxy(port, {
      get: (target, name, receiver) => {
        if (!(name in target)) this.notModelled = String(name);
        return Reflect.get(target, name, receiver);
      },
    }) as T;
  }
}
