import { isCounted } from '#core/activities/step';
import type { State } from '#core/data/state';
import { awaitsReply } from '#core/data/step-state';
import { type Program, wakeAtOf } from '#core/definition/program';
import { failingWork } from '#core/engine/compensation';
import { type WorkingStep, workingStepAt } from '#core/engine/lateness';
import { lastHeard } from '#core/engine/no-answer';
import type { DueFor, OutboxEntry, StateRecord } from '#ports/records';
import { isObjectsEntry } from '#roles/recovery/objects';
import { hasLock } from './lease.ts';

/** Shortest pause before an outbox is sent again. */
export const outboxMs = 10_000;
/** Longest pause before an outbox is sent again. Pauses grow, because each attempt is a write. */
const outboxMaxMs = 60_000;
/** With `onExhausted: 'wait'`: the default pause before a step above its failure limit is requested again. */
export const longWaitMs = 3_600_000;
/** Interval at which a suspended order asks again for the handler of its exception: a message between the two orders may be lost. */
const handlerMs = 600_000;
/** Interval between reminders of an order in Error. */
export const reminderMs = 3_600_000;

export interface Deadline {
  readonly at: number;
  readonly for: DueFor;
}

/** Returns a sentence about the last failure that the agent of a late step has reported. */
export const heardOf = (due: DueFor | null): string => due?.heard ?? lastHeard(undefined);

interface Outstanding extends Deadline {
  /** Whether the supervisor counts a failure when this deadline has passed. */
  readonly counts: boolean;
  /** The time at which the reply is due, if the step is examined again at another time. */
  readonly completeBy?: number;
}

/** Returns every deadline and timer of the active activities. */
function outstanding(program: Program, state: State): readonly Outstanding[] {
  if (state.phase !== 'running' && state.phase !== 'suspended') return [];
  return Object.entries(state.activities).flatMap(([path, activity]): readonly Outstanding[] => {
    const step = workingStepAt(program, path, activity);
    if (step) return [deadlineOf(step)];
    const at = wakeAtOf(program, path, activity);
    return at === undefined ? [] : [{ at, for: { kind: 'timer', path }, counts: false }];
  });
}

function deadlineOf({ path, agent, local, activity: { late, waitsUntil } }: WorkingStep): Outstanding {
  const { completeBy, limit = Infinity } = local;
  if (waitsUntil !== undefined) {
    // A rule or the failure limit has the step wait before its next request.
    const pauses = local.mode === undefined && !awaitsReply(local) ? { pauses: true as const } : {};
    return { at: Math.min(waitsUntil, limit), for: { kind: 'timer', path, ...pauses }, counts: false, completeBy };
  }
  // At its limit the step fails, instead of being late.
  if (!isCounted(local)) return { at: limit, for: { kind: 'timer', path }, counts: false, completeBy };
  const before = { ...(late ? { failures: late } : {}), ...(local.reason === undefined ? {} : { heard: lastHeard(local) }) };
  return { at: completeBy, for: { kind: 'step', path, agent, ...before }, counts: true };
}

/** Returns when the last active step or timer is due; null if there is none. */
const latestOf = (deadlines: readonly Outstanding[]): number | null =>
  deadlines.length === 0 ? null : Math.max(...deadlines.map(({ at, completeBy = at }) => completeBy));

/** Returns the record's due time; for a suspended order, the time that remains. */
export function timesOf(program: Program, state: State): Pick<StateRecord, 'completeBy' | 'remainingMs'> {
  const completeBy = latestOf(outstanding(program, state));
  const { suspendedAt } = state;
  if (suspendedAt === undefined) return { completeBy, remainingMs: null };
  return { completeBy: null, remainingMs: completeBy === null ? null : Math.max(0, completeBy - suspendedAt) };
}

/** Returns since when an entry waits: milliseconds since 1970. */
function sinceOf(entry: OutboxEntry): number {
  switch (entry.kind) {
    case 'status':
      return Date.parse(String(entry.message['at']));
    case 'announcement':
      return Date.parse(String(entry.detail['at']));
    case 'opened':
      return entry.exception?.at ?? entry.task?.openedAt ?? Number.NaN;
    case 'closed':
      return entry.handling.at;
    case 'objects':
      return entry.closedAt;
    case 'handed':
    case 'verified':
      return entry.at;
  }
}

/** Returns the pause before the outbox is sent again: a tenth of the age of its oldest entry, within the limits. */
export function outboxPauseMs(outbox: readonly OutboxEntry[], now: number): number {
  const waited = outbox.map((entry) => now - sinceOf(entry));
  // An earlier time moves the order in the worklist, which costs two write units. Nobody waits for the records of objects.
  const leastMs = outbox.every(isObjectsEntry) ? outboxMaxMs : outboxMs;
  return Math.min(outboxMaxMs, Math.max(leastMs, ...waited.map((ms) => (Number.isFinite(ms) ? Math.round(ms / 10) : 0))));
}

/**
 * Returns what is due when the whole order expires (`recover: 'order'`). It names the agent with the latest deadline,
 * because an outage of that agent delays the order. Its failure count is the highest of all steps.
 */
function wholeOrderDue(steps: readonly Deadline[]): DueFor {
  const { agent, heard } = steps.reduce((latest, each) => (each.at > latest.at ? each : latest)).for;
  const failures = Math.max(...steps.map((step) => step.for.failures ?? 0));
  return {
    kind: 'claim',
    ...(agent === undefined ? {} : { agent }),
    ...(failures === 0 ? {} : { failures }),
    ...(heard === undefined ? {} : { heard }),
  };
}

/** Returns until when a counted expiry must not count again. Other writes keep this time until the step is requested again. */
export function countedUntil({ nextDueAt, nextDueFor }: Pick<StateRecord, 'nextDueAt' | 'nextDueFor'>): number | undefined {
  return (nextDueFor?.kind === 'request' ? nextDueAt : nextDueFor?.waitsUntil) ?? undefined;
}

/** Returns what a suspended order keeps of its deadline, so that a counted expiry does not count again. */
export function frozenDue(record: Pick<StateRecord, 'nextDueAt' | 'nextDueFor'>): DueFor {
  const { path, agent, failures, waitingSince } = record.nextDueFor ?? {};
  const waitsUntil = countedUntil(record);
  return {
    kind: 'suspended',
    ...(path === undefined ? {} : { path }),
    ...(agent === undefined ? {} : { agent }),
    ...(failures === undefined ? {} : { failures }),
    ...(waitsUntil === undefined ? {} : { waitsUntil }),
    ...(waitingSince === undefined ? {} : { waitingSince }),
  };
}

/** Returns a kept deadline moved by the duration of the suspension, in milliseconds. */
export const thawedDue = (due: DueFor | null, byMs: number): DueFor | null =>
  due?.waitsUntil === undefined ? due : { ...due, waitsUntil: due.waitsUntil + byMs };

/** An instance, and when rules are to be asked next about it. */
export interface Timetable {
  readonly program: Program;
  readonly state: State;
  readonly rulesAt?: number | undefined;
  /** Whether the order is suspended until a handler has ended. */
  readonly awaitsHandler?: boolean;
}

/** Returns the exact next deadline of an order; undefined if there is none. */
export function nextDeadline(
  { program, state, rulesAt: given, awaitsHandler = false }: Timetable,
  record: StateRecord,
  now: number,
): Deadline | undefined {
  // Deadlines stand still until the lock ends. Its end is due even for an order in Error or one that is suspended.
  if (hasLock(record) && record.processState !== 'Processed')
    return { at: record.heldUntil ?? now, for: { ...frozenDue(record), kind: 'lock' } };
  // A stopped order still sends its outbox.
  if (isStopped(record) && record.outbox.length > 0)
    return { at: now + outboxPauseMs(record.outbox, now), for: { ...frozenDue(record), kind: 'outbox' } };
  if (isStopped(record)) return awaitsHandler ? { at: now + handlerMs, for: { ...frozenDue(record), kind: 'handler' } } : undefined;
  // A suspended order in Error asks no rules. Their time must not take the place of its outbox and its reminders.
  const rulesAt = record.suspended ? undefined : given;
  // A reset voids every request: until a scheduler has claimed the order again, no step can be late.
  const active = outstanding(program, state);
  const waiting = record.processState === 'Processing' ? active : [];
  const { putOff, waitingSince, path }: Partial<DueFor> = record.nextDueFor ?? {};
  const steps = waiting.filter(({ counts }) => counts).map((step) => withPutOff(step, putOff, now));
  const completeBy = latestOf(active);
  const expiries =
    record.recover === 'step' || completeBy === null || steps.length === 0
      ? steps
      : [{ at: completeBy, for: wholeOrderDue(steps), counts: true }];
  const wait = countedUntil(record);
  const late = wait === undefined ? [] : expiries.filter(({ at }) => at <= now);
  const waitsUntil = late.length > 0 ? wait : undefined;
  const candidates: Deadline[] = [
    ...(rulesAt === undefined ? [] : [{ at: rulesAt, for: { kind: 'rule' } as const }]),
    ...waiting.filter(({ counts }) => !counts),
    ...expiries.filter((expiry) => !late.includes(expiry)),
    ...(waitsUntil === undefined ? [] : [{ at: waitsUntil, for: { ...late[0]?.for, kind: 'request' } as const }]),
    ...(record.outbox.length > 0 ? [{ at: now + outboxPauseMs(record.outbox, now), for: { kind: 'outbox' } as const }] : []),
    ...(record.processState === 'Pending' ? [{ at: now, for: { kind: 'unclaimed' } as const }] : []),
  ];
  if (candidates.length === 0 && record.processState === 'Error') candidates.push({ at: now + reminderMs, for: { kind: 'reminder' } });
  const first = candidates.reduce<Deadline | undefined>(
    (least, each) => (least === undefined || isBefore(each, least) ? each : least),
    undefined,
  );
  if (!first) return undefined;
  // An earlier deadline must not end the wait. A new request of the same step keeps the start of its waiting time.
  const waits = waitsUntil !== undefined && first.at < waitsUntil ? { waitsUntil } : {};
  const place = waitingSince !== undefined && path === first.for.path ? { waitingSince } : {};
  const [failing] = failingWork(program, state);
  // While the supervisor puts a late step off, timers, rules about times and steps of other agents go on.
  const others = first.for.kind === 'step' ? steps.filter(({ for: { agent } }) => agent !== first.for.agent) : [];
  const timers = waiting.filter(({ counts }) => !counts);
  const wakeAt = Math.min(...[...timers, ...others].map(({ at }) => at), rulesAt ?? Number.POSITIVE_INFINITY);
  const wakes = mayBePutOff.has(first.for.kind) && Number.isFinite(wakeAt) ? { wakeAt } : {};
  const kept = stillPutOff(putOff, now);
  return { ...first, for: { ...first.for, ...waits, ...place, ...wakes, ...kept, ...(failing === undefined ? {} : { failing }) } };
}

/** Returns a late step with the time until which the supervisor has put off the steps of its agent. */
function withPutOff(step: Outstanding, putOff: DueFor['putOff'], now: number): Outstanding {
  const { until, waitingSince } = putOff?.[step.for.agent ?? ''] ?? {};
  if (until === undefined || waitingSince === undefined || until <= now || step.at > now) return step;
  return { ...step, at: until, for: { ...step.for, waitingSince } };
}

function stillPutOff(putOff: DueFor['putOff'], now: number): Pick<DueFor, 'putOff'> {
  const kept = Object.entries(putOff ?? {}).filter(([, { until }]) => until > now);
  return kept.length === 0 ? {} : { putOff: Object.fromEntries(kept) };
}

/** The kinds of deadlines that the supervisor may put off. */
const mayBePutOff: ReadonlySet<DueFor['kind']> = new Set(['step', 'claim']);

/** Whether one deadline comes before another. If both have the same time, the deadline with more failures comes first. */
const isBefore = (one: Deadline, other: Deadline): boolean =>
  one.at === other.at ? (one.for.failures ?? 0) > (other.for.failures ?? 0) : one.at < other.at;

/** Whether a suspension stops the order's deadlines. A suspended order in Error still reminds a person. */
export const isStopped = ({ suspended, processState }: Pick<StateRecord, 'suspended' | 'processState'>): boolean =>
  suspended && (processState === 'Pending' || processState === 'Processing');

/**
 * Returns the order's place in the worklist. Within a list, an entry moves only to an earlier time, so a healthy order writes its entry
 * once and removes it once. The supervisor moves an entry that it finds too early.
 */
export function worklistEntry(
  record: Pick<StateRecord, 'worklist' | 'worklistAt' | 'processState'>,
  deadline: Deadline | undefined,
): Pick<StateRecord, 'worklist' | 'worklistAt'> {
  if (!deadline) return { worklist: null, worklistAt: null };
  const worklist = deadline.for.kind === 'reminder' ? 'error' : 'due';
  const earlyEnough = record.worklist === worklist && record.worklistAt !== null && record.worklistAt <= deadline.at;
  return { worklist, worklistAt: earlyEnough ? record.worklistAt : deadline.at };
}
