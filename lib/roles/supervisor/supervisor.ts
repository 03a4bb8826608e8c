import { type Breaker, coversLateStep, phaseOf, turnOf } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import { UnreadableRecordError } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import { queueNames, type Whose, wakeUpOf } from '#ports/messages';
import type { Queues } from '#ports/queues';
import { type Note, type StateHead, shardCount } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { createChannelReconciler } from '#roles/channels/reconciler';
import { type ChannelState, type Closures, closures, isShut, outageOf } from '#roles/channels/state';
import { longWaitMs, outboxMs } from '#roles/scheduler/deadlines';
import { backlogAlert } from './backlog.ts';
import { createBacklogMonitor } from './backlog-monitor.ts';
import { escalate } from './escalate.ts';
import { sweepThrough } from './sweep.ts';
import { createWakeUps } from './wake-ups.ts';

export interface SupervisorOptions {
  /** Reads and writes record attributes only. The supervisor knows no instance, workflow or agent. */
  readonly store: Pick<Store, 'due' | 'head' | 'patch' | 'sweep' | 'breaker' | 'document' | 'documents' | 'putDocument'>;
  readonly queues: Pick<Queues, 'send' | 'depth'>;
  /** Announces closed channels that were not announced yet. The scheduler sends the announcements about orders. */
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Each pass opens and closes them as the channels' records say. */
  readonly consumers?: Consumers | undefined;
  /** How late a deadline must be before it counts, in milliseconds. */
  readonly clockToleranceMs?: number;
  /** The agents' reply queues. Late steps do not count while replies wait there for a long time. */
  readonly replyQueues?: readonly string[];
  /** Interval between passes. If most late steps were not seen within it, the system is slow, and no step counts as late. */
  readonly periodMs?: number;
  /** Ids read from one shard at a time. */
  readonly pageSize?: number;
}

export interface SupervisorPass {
  readonly looked: number;
  /** Expiries that this pass counted. */
  readonly counted: number;
  readonly woken: number;
  readonly intoError: number;
  /** Races that another supervisor, or the order itself, has won. */
  readonly lost: number;
}

export interface Supervisor {
  /** Examines everything that is due, oldest first. Several supervisors may run at once: each expiry counts once. */
  pass(): Promise<SupervisorPass>;
  /** Examines every order for deadlines that the worklist missed. After `stopping`, the next sweep continues there. */
  sweep(stopping?: AbortSignal): Promise<SupervisorPass>;
}

/** A late order and the time when it was found, because the clock may be set back before it is judged. */
interface Late {
  readonly head: StateHead;
  readonly foundAt: number;
}

type Counts = { -readonly [K in keyof SupervisorPass]: number };

/** Assumed step timeout of an order whose record cannot be read. */
const unreadableMs = 30_000;
/** Number of expiries that suffice to decide whether the system is behind. */
const judgedMax = 100;

/** Creates a supervisor. It asks schedulers to recover orders; it recovers none itself and restarts no process. */
export function createSupervisor({
  store,
  queues,
  publisher,
  clock,
  telemetry,
  consumers,
  clockToleranceMs = 0,
  replyQueues = [],
  periodMs = Number.POSITIVE_INFINITY,
  pageSize = 100,
}: SupervisorOptions): Supervisor {
  async function look(orderId: string, counts: Counts): Promise<void> {
    counts.looked += 1;
    let head: StateHead | undefined;
    try {
      head = await store.head(orderId);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      // The scheduler meets the same error, quarantines the order and alerts a person. Other orders do not wait for it.
      return wakeOnce({ orderId, stepMs: unreadableMs }, 'unreadable', counts);
    }
    if (!head || head.nextDueAt === null || head.nextDueFor === null || head.nextDueFor.kind === 'reminder') return;

    const now = clock.now();
    if (head.nextDueAt > now) return moveEntry(head, head.nextDueAt, counts);
    if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now) {
      await moveDeadline(head, head.heldUntil, 'another host holds the lease', counts);
      return;
    }
    if (head.suspended && head.nextDueFor.kind !== 'outbox') return;

    const counted = head.nextDueFor.kind === 'step' || head.nextDueFor.kind === 'claim';
    if (!counted) return wakeOnce(head, `${head.nextDueFor.kind}@${head.nextDueAt}`, counts);
    if (head.nextDueAt + clockToleranceMs > now) return;
    const outage = await outageBefore(head, head.nextDueAt, now);
    if (outage) return postpone(head, outage, counts);
    backlog.saw(now - head.nextDueAt - clockToleranceMs);
    late.push({ head, foundAt: now });
  }

  async function judgeOne({ head, foundAt }: Late, counts: Counts): Promise<void> {
    const waitingSince = waitingSinceOf(head);
    const behind = await backlog.behindWith(head, waitingSince);
    if (!behind) return countExpiry(head, foundAt, counts);
    telemetry.count('expiryExcused');
    const now = clock.now();
    const waiting: StateHead = { ...head, nextDueFor: head.nextDueFor && { ...head.nextDueFor, waitingSince } };
    const alert = backlogAlert(behind, now);
    if (alerted.get(behind.source) === alert.id || head.outbox.some(({ id }) => id === alert.id)) {
      await moveDeadline(waiting, now + head.stepMs, behind.reason, counts);
      return;
    }
    // The alert goes into the outbox of the first late order, from which the scheduler sends it.
    alerted.set(behind.source, alert.id);
    const alerting: StateHead = { ...waiting, outbox: [...head.outbox, alert], nextDueFor: { ...waiting.nextDueFor, kind: 'outbox' } };
    if (!(await moveDeadline(alerting, now + outboxMs, behind.reason, counts))) {
      alerted.delete(behind.source);
      return;
    }
    telemetry.count('backlogged');
    telemetry.log('warn', 'postponed late steps: the system is behind', { source: behind.source, reason: behind.reason });
    await wake(head);
  }

  /** Returns the outage that covers a part of the step's time; an open one first. */
  async function outageBefore({ nextDueFor, stepMs }: StateHead, dueAt: number, now: number): Promise<Outage | undefined> {
    const agent = nextDueFor?.agent;
    const states = await closed();
    const breaker = agent === undefined ? undefined : await breakerOf(agent);
    const channels = [agent, queueNames.wakeUps].flatMap((name) => closedIn(states, name));
    const outages = [
      ...channels.map((state) => ({ record: outageOf(state, now), reason: `the channel ${state.channel} is closed` })),
      ...(breaker ? [{ record: breaker, reason: `the service behind ${breaker.agent} is away` }] : []),
    ].filter(({ record }) => coversLateStep(record, dueAt, stepMs, now));
    const isOpen = ({ record }: Outage): boolean => phaseOf(record, now) === 'open';
    return outages.find(isOpen) ?? outages[0];
  }

  let known: Promise<Closures> | undefined;
  const closed = (): Promise<Closures> => (known ??= closures(store, clock.now()));
  const wakeUps = createWakeUps<Whose & Pick<StateHead, 'stepMs'>>({ clock, send: (head) => wake(head) });
  const keeper = createChannelReconciler({ documents: store, publisher, consumers, clock, telemetry });
  const backlog = createBacklogMonitor({ depth: (queue) => queues.depth(queue), replyQueues, periodMs, clock, telemetry });
  /** Expiries that this pass has found and not judged yet. */
  const late: Late[] = [];
  /** Id of the last alert about each backlog. */
  const alerted = new Map<string, string>();

  /** Circuit breakers that this pass has read: each once, and only if a step is late. */
  const breakers = new Map<string, Promise<Breaker | undefined>>();
  const breakerOf = (agent: string): Promise<Breaker | undefined> => {
    const known = breakers.get(agent) ?? store.breaker(agent);
    breakers.set(agent, known);
    return known;
  };
  /** Agents for which this pass has let one order probe the service. */
  const probed = new Set<string>();
  const forget = (): void => {
    breakers.clear();
    probed.clear();
    known = undefined;
    late.length = 0;
    backlog.begin();
    wakeUps.begin();
  };

  /** Postpones a step during an outage. The step is requested again in its turn, and no failure counts. */
  async function postpone(head: StateHead, { record: breaker, reason }: Outage, counts: Counts): Promise<void> {
    const now = clock.now();
    telemetry.count('expiryExcused');
    const waitingSince = waitingSinceOf(head);
    const turn = turnOf(breaker, waitingSince);
    const isFree = phaseOf(breaker, now) !== 'open' || !probed.has(breaker.agent);
    if (turn <= now && isFree) {
      probed.add(breaker.agent);
      return requestUncounted(head, waitingSince, counts);
    }
    // The pause grows with the outage, to save writes.
    const until = phaseOf(breaker, now) === 'open' ? now + Math.max(head.stepMs, (now - breaker.openedAt) / 4) : turn;
    const waiting = head.nextDueFor && { ...head, nextDueFor: { ...head.nextDueFor, waitingSince } };
    await moveDeadline(waiting ?? head, Math.round(until), reason, counts);
  }

  async function requestUncounted(head: StateHead, waitingSince: number, counts: Counts): Promise<void> {
    const nextDueAt = clock.now() + head.stepMs;
    const requested: StateHead = {
      ...head,
      rev: head.rev + 1,
      nextDueAt,
      nextDueFor: { ...head.nextDueFor, kind: 'request', waitingSince },
      worklistAt: nextDueAt,
    };
    const write = await store.patch(requested, head);
    if (write.outcome === 'refused') counts.lost += 1;
    else await wake(head);
  }

  /** Counts an expiry in one write. Its fence is the observed rev, so a second supervisor's write is refused. */
  async function countExpiry(head: StateHead, now: number, counts: Counts): Promise<void> {
    const failures = (head.nextDueFor?.failures ?? 0) + 1;
    const failureCount = Math.max(head.failureCount, failures);
    const exhausted = failures > head.maxFailures;
    const path = head.nextDueFor?.path;
    const place = path === undefined ? {} : { path };
    telemetry.log('info', 'found expired deadline', { orderId: head.orderId, ...place, failures });

    // An order that is reset as a whole has no step that could fault.
    const intoErrorNow = head.onExhausted === 'error' || (head.onExhausted === 'fault' && head.nextDueFor?.kind === 'claim');
    if (exhausted && intoErrorNow) {
      counts.intoError += 1;
      return change(head, escalate(head, failures, now, { at: now, type: 'ThresholdExceeded', ...place, failureCount: failures }), counts);
    }
    const waits = exhausted && head.onExhausted === 'wait';
    const due = now + (waits ? (head.longWaitMs ?? longWaitMs) : head.stepMs);
    if (head.nextDueFor?.kind === 'claim' && !exhausted) {
      const reset: StateHead = {
        ...head,
        processState: 'Pending',
        lockedBy: null,
        epoch: head.epoch + 1,
        completeBy: due,
        failureCount,
        notes: [...head.notes, { at: now, type: 'OrderReset', failureCount: failures }],
        nextDueAt: now,
        nextDueFor: { kind: 'unclaimed' },
        worklistAt: now,
      };
      return change(head, reset, counts);
    }
    const requested: StateHead = {
      ...head,
      failureCount,
      notes: [...head.notes, { at: now, type: 'DeadlineExpired', ...place, failureCount: failures }],
      nextDueAt: due,
      nextDueFor: { ...head.nextDueFor, kind: 'request', failures },
      worklistAt: due,
    };
    return change(head, requested, counts, waits ? 0 : 1);
  }

  async function change(head: StateHead, next: StateHead, counts: Counts, wakes = 1): Promise<void> {
    const write = await store.patch({ ...next, rev: head.rev + 1, updatedAt: clock.now() }, head);
    if (write.outcome === 'refused') {
      counts.lost += 1;
      telemetry.count('recoveryLost');
      return;
    }
    counts.counted += 1;
    telemetry.count('expiryCounted');
    if (head.nextDueAt !== null) telemetry.measure('detectionDelayMs', clock.now() - head.nextDueAt);
    if (wakes > 0) await wake(head);
  }

  /** Moves a worklist entry that is too early, because other writes only move it to an earlier time. No failure counts. */
  async function moveEntry(head: StateHead, worklistAt: number, counts: Counts): Promise<void> {
    if (head.worklistAt === worklistAt) return;
    const write = await store.patch({ ...head, rev: head.rev + 1, worklistAt }, head);
    if (write.outcome === 'refused') counts.lost += 1;
  }

  async function moveDeadline(head: StateHead, at: number, reason: string, counts: Counts): Promise<boolean> {
    const note: Note = {
      at: clock.now(),
      type: 'DeadlineMoved',
      ...(head.nextDueFor?.path ? { path: head.nextDueFor.path } : {}),
      reason,
    };
    const last = head.notes.at(-1);
    const isSaid = last?.type === 'DeadlineMoved' && last.path === note.path && last.reason === reason;
    const moved = { ...head, rev: head.rev + 1, nextDueAt: at, worklistAt: at, notes: isSaid ? head.notes : [...head.notes, note] };
    const write = await store.patch(moved, head);
    if (write.outcome === 'refused') counts.lost += 1;
    return write.outcome === 'written';
  }

  /** Wakes an order, unless the wake-up channel is closed. Then a pass finds the order again after it opens. */
  async function wakeOnce(head: Whose & Pick<StateHead, 'stepMs'>, deadline: string, counts: Counts): Promise<void> {
    const [shut] = closedIn(await closed(), queueNames.wakeUps);
    if (shut && isShut(shut, queueNames.wakeUps, clock.now())) return;
    if (await wakeUps.once(head, deadline)) counts.woken += 1;
  }

  const wake = (head: Whose): Promise<void> => queues.send([wakeUpOf(head, clock.now())]);

  /** Logs the error of one order, so that the pass continues with the others. */
  async function loggingErrors(orderId: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if ((error as { fatal?: boolean }).fatal) throw error;
      telemetry.log('warn', 'skipped order after an error', { orderId, error });
    }
  }

  async function lookAtAll(ids: readonly string[], counts: Counts): Promise<void> {
    await Promise.all(ids.map((orderId) => loggingErrors(orderId, look(orderId, counts))));
    if (late.length >= judgedMax) await judge(counts);
  }

  /** Judges expiries together: if very many steps are late, the system is the cause, not their agents. */
  async function judge(counts: Counts): Promise<void> {
    await Promise.all(late.splice(0).map((one) => loggingErrors(one.head.orderId, judgeOne(one, counts))));
  }

  async function lookAtDue(counts: Counts): Promise<void> {
    const until = clock.now();
    for (let index = 0; index < shardCount; index++) {
      // Supervisors that run at the same time begin at different shards.
      const shard = (index + until) % shardCount;
      const seen = new Set<string>();
      // Woken orders stay at the front of the worklist, so each round reads one page more than it has seen.
      for (let found = pageSize; found === pageSize; ) {
        const due = await store.due('due', shard, until, seen.size + pageSize);
        if (due.length === 0) break;
        const ids = due.filter((id) => !seen.has(id)).slice(0, pageSize);
        await lookAtAll(ids, counts);
        for (const id of ids) seen.add(id);
        found = ids.length;
      }
    }
  }

  async function lookAtEveryOrder(counts: Counts, stopping: AbortSignal | undefined): Promise<void> {
    await sweepThrough({ store, clock, stopping }, async (ids) => {
      for (let from = 0; from < ids.length; from += pageSize) await lookAtAll(ids.slice(from, from + pageSize), counts);
    });
  }

  /** Runs `look` and judges the expiries that it found, even if it fails. */
  async function looking(counts: Counts, look: () => Promise<void>): Promise<void> {
    forget();
    try {
      await look();
    } finally {
      await judge(counts);
    }
  }

  return {
    async pass() {
      const counts = zero();
      await looking(counts, async () => {
        await keeper.follow(await closed());
        await lookAtDue(counts);
      });
      telemetry.count('supervisorPass');
      telemetry.count('supervisorLooked', counts.looked);
      return counts;
    },

    async sweep(stopping) {
      const counts = zero();
      await looking(counts, () => lookAtEveryOrder(counts, stopping));
      return counts;
    },
  };
}

/** An outage, and the reason that its late orders note. */
interface Outage {
  readonly record: Breaker;
  readonly reason: string;
}

/** Returns the time since when the step has waited for its reply. */
const waitingSinceOf = ({ nextDueAt, nextDueFor, completeBy, stepMs }: StateHead): number => {
  const dueAt = nextDueAt ?? 0;
  return nextDueFor?.waitingSince ?? Math.min(completeBy ?? dueAt, dueAt) - stepMs;
};

const closedIn = (states: Closures, channel: string | undefined): readonly ChannelState[] => {
  const state = channel === undefined ? undefined : states.get(channel);
  return state ? [state] : [];
};

const zero = (): Counts => ({ looked: 0, counted: 0, woken: 0, intoError: 0, lost: 0 });
