import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import { UnreadableRecordError } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import type { Queues } from '#ports/queues';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import type { PeopleFor } from '#ports/tasks';
import type { Telemetry } from '#ports/telemetry';
import { createChannelReconciler } from '#roles/channels/reconciler';
import type { OverviewKeeper } from '#roles/overview/keeper';
import { createStepGathering, keepStepCounts } from '#roles/overview/steps';
import { type Counts, createActions, type SupervisorPass } from './act.ts';
import { createBacklogMonitor } from './backlog-monitor.ts';
import { findDue } from './find.ts';
import { judgeDue } from './judge.ts';
import { createLateSteps, loggingErrors } from './late-steps.ts';
import { createOutages } from './outages.ts';
import { sweepThrough } from './sweep.ts';

export type { SupervisorPass } from './act.ts';

export interface SupervisorOptions {
  /** Reads and writes record attributes only. The supervisor knows no instance, workflow or agent. */
  readonly store: Pick<Store, 'due' | 'head' | 'patch' | 'sweep' | 'breaker' | 'document' | 'documents' | 'putDocument' | 'unfinished'>;
  readonly queues: Pick<Queues, 'send' | 'depth'>;
  /** Announces closed channels that were not announced yet. The scheduler sends the announcements about orders. */
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The consumers of all channels. Each pass opens and closes them as the channels' records say. */
  readonly consumers?: Consumers | undefined;
  /** The time that must pass after a deadline before the deadline counts as missed, in milliseconds. */
  readonly clockToleranceMs?: number;
  /** The agents' reply queues. Late steps do not count while replies wait there for a long time. */
  readonly replyQueues?: readonly string[];
  /** Interval between passes. If most late steps were not seen within it, the system is slow, and no step counts as late. */
  readonly periodMs?: number;
  /** Returns the people for whom the tasks of a workflow are: the supervisor itself knows no workflow. */
  readonly peopleFor?: PeopleFor;
  /** Resolves to the keys of the rules about times. A sweep wakes the orders whose deadlines were planned with another key. */
  readonly ruleTimers?: (() => Promise<TimersOf>) | undefined;
  /** Orders that are examined at a time. */
  readonly pageSize?: number;
  /** Keeps the figures of the whole system. Absent: no figures are kept. */
  readonly overview?: OverviewKeeper | undefined;
}

export interface Supervisor {
  /** Examines everything that is due, in each shard oldest first. Several supervisors may run at the same time: each expiry counts once. */
  pass(): Promise<SupervisorPass>;
  /** Examines every order for deadlines that the worklist missed. If `stopping` aborts, the next sweep continues at that place. */
  sweep(stopping?: AbortSignal): Promise<SupervisorPass>;
}

/** Returns a key that identifies the rules about ages and late steps of this workflow's orders; undefined if there are none. */
export type TimersOf = (workflow: string) => string | undefined;

/** The work that a pass or a sweep adds to the examination of an order. */
interface Sweeping {
  /** Called with each order that can be read. */
  readonly saw?: ((head: StateHead) => void) | undefined;
  readonly timersOf?: TimersOf | undefined;
}

/** Assumed step timeout of an order whose record cannot be read. It sets the pause between two wake-ups. */
const unreadableMs = 30_000;

/**
 * Creates a supervisor: it finds orders that are due, judges each one, and acts. It wakes a scheduler, which continues the order. The
 * supervisor itself applies no event to an order and restarts no process.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { store, clock, pageSize = 100, overview } = options;
  const examination = createExamination(options);
  const { ruleTimers } = options;
  const { publisher, telemetry, consumers } = options;
  const channels = createChannelReconciler({ documents: store, publisher, consumers, clock, telemetry });

  /** Runs `find`, then judges the expiries that were found, even if `find` failed. */
  async function examining(find: (counts: Counts) => Promise<void>): Promise<SupervisorPass> {
    const counts: Counts = { looked: 0, counted: 0, woken: 0, intoError: 0, lost: 0 };
    examination.begin();
    try {
      await find(counts);
    } finally {
      await examination.judgeLate(counts);
    }
    return counts;
  }

  return {
    async pass() {
      const counts = await examining(async (counts) => {
        await channels.follow(await examination.outages.closed());
        overview?.begin();
        await findDue({ store, clock, pageSize }, (ids) => examination.look(ids, counts, { saw: overview?.saw }));
      });
      await overview?.keep();
      telemetry.count('supervisorPass');
      telemetry.count('supervisorLooked', counts.looked);
      return counts;
    },
    sweep: (stopping) =>
      examining(async (counts) => {
        const steps = store.unfinished ? undefined : createStepGathering();
        const isComplete = await sweepThrough({ store, clock, stopping, gathering: steps }, async (ids) => {
          const sweeping = { saw: steps?.saw, timersOf: await ruleTimers?.() };
          for (let from = 0; from < ids.length; from += pageSize)
            await examination.look(ids.slice(from, from + pageSize), counts, sweeping);
        });
        if (isComplete && steps) await keepStepCounts(steps.counts(clock.now()), store);
      }),
  };
}

/** Examines orders: reads the facts that a decision needs, decides, and acts. */
function createExamination({
  store,
  queues,
  clock,
  telemetry,
  clockToleranceMs = 0,
  replyQueues = [],
  periodMs,
  peopleFor,
}: SupervisorOptions) {
  const outages = createOutages(store, clock);
  const actions = createActions({ store, queues, clock, telemetry, outages });
  const backlog = createBacklogMonitor({
    depth: (queue) => queues.depth(queue),
    replyQueues,
    periodMs: periodMs ?? Number.POSITIVE_INFINITY,
    clock,
    telemetry,
  });
  const late = createLateSteps({ outages, actions, backlog, clock, telemetry, peopleFor });

  async function lookAt(orderId: string, counts: Counts, { saw, timersOf }: Sweeping): Promise<void> {
    counts.looked += 1;
    let head: StateHead | undefined;
    try {
      head = await store.head(orderId);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      // The scheduler meets the same error, quarantines the order and alerts a person. Other orders do not wait for it.
      return actions.wakeOnce({ orderId, stepMs: unreadableMs }, 'unreadable', counts);
    }
    const now = clock.now();
    if (head) saw?.(head);
    const timers = head && timersOf ? changedTimers(head, timersOf) : undefined;
    if (head && timers !== undefined) await actions.wakeOnce(head, `rules@${timers}`, counts);
    const decision = judgeDue(head, now, clockToleranceMs);
    if (!head || head.nextDueAt === null) return;
    if (decision.kind !== 'late') return void (await actions.act(head, decision, counts));
    await late.found(head, { now, lateMs: now - head.nextDueAt - clockToleranceMs }, counts);
  }

  return {
    outages,
    judgeLate: late.judge,
    begin() {
      outages.begin();
      backlog.begin();
      actions.begin();
      late.begin();
    },
    async look(ids: readonly string[], counts: Counts, sweeping: Sweeping = {}): Promise<void> {
      await Promise.all(ids.map((orderId) => loggingErrors(telemetry, orderId, lookAt(orderId, counts, sweeping))));
      if (late.areMany()) await late.judge(counts);
    },
  };
}

/**
 * Returns the key of the present rules if the order's deadlines were planned with another key: no write of the order has followed the
 * change of the rules.
 */
function changedTimers(head: StateHead, timersOf: TimersOf): string | undefined {
  const key = timersOf(head.workflow.name);
  const isWaiting = head.processState !== 'Processed' && !head.suspended && head.heldBy === null;
  return isWaiting && key !== head.ruleTimers ? key : undefined;
}
