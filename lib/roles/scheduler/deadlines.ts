import { isCounted } from '#core/activities/step';
import type { State } from '#core/data/state';
import { nodeAt, type Program, wakeAtOf } from '#core/definition/program';
import { type WorkingStep, workingSteps } from '#core/engine/lateness';
import type { DueFor, OutboxEntry, StateRecord } from '#ports/records';

/** An outbox that is not empty is looked at again after this time. */
export const outboxMs = 10_000;
/** What cannot be sent for long is tried less often: each try is a write. A minute is the most that anybody waits for news. */
const outboxMaxMs = 60_000;
/** With `onExhausted: 'wait'`: how long a step above the threshold is left alone, where nothing else is said. */
export const longWaitMs = 3_600_000;
/** How often a person is reminded of an order in Error. */
export const reminderMs = 3_600_000;

export interface Deadline {
  readonly at: number;
  readonly for: DueFor;
}

interface Outstanding extends Deadline {
  readonly counts: boolean;
  /** By when its answer was to come, where it is looked at again later. */
  readonly completeBy?: number;
}

/** All that the live activities wait for, by the clock. */
function outstanding(program: Program, state: State): readonly Outstanding[] {
  if (state.phase !== 'running' && state.phase !== 'suspended') return [];
  const steps = workingSteps(program, state);
  const counted = new Set(steps.map(({ path }) => path));
  const timers = Object.entries(state.activities).flatMap(([path, activity]): readonly Outstanding[] => {
    const at = counted.has(path) ? undefined : wakeAtOf(program, path, activity);
    return at === undefined ? [] : [{ at, for: { kind: 'timer', path }, counts: false }];
  });
  return [...steps.map((step) => deadlineOf(program, step)), ...timers];
}

function deadlineOf(program: Program, { path, local, activity: { late, waitsUntil } }: WorkingStep): Outstanding {
  const { completeBy, limit = Infinity } = local;
  if (waitsUntil !== undefined) return { at: Math.min(waitsUntil, limit), for: { kind: 'timer', path }, counts: false, completeBy };
  // Then it fails, and is not late.
  if (!isCounted(local)) return { at: limit, for: { kind: 'timer', path }, counts: false, completeBy };
  const node = nodeAt(program, path);
  const agent = node.activity === 'step' ? { agent: node.agent } : {};
  return { at: completeBy, for: { kind: 'step', path, ...agent, ...(late ? { failures: late } : {}) }, counts: true };
}

/** By when all that is at work must be done (SAS). */
function completeByOf(program: Program, state: State): number | null {
  const deadlines = outstanding(program, state);
  return deadlines.length === 0 ? null : Math.max(...deadlines.map(({ at, completeBy = at }) => completeBy));
}

/** That for the record; of a suspended order, what is left of it. */
export function timesOf(program: Program, state: State): Pick<StateRecord, 'completeBy' | 'remainingMs'> {
  const completeBy = completeByOf(program, state);
  const { suspendedAt } = state;
  if (suspendedAt === undefined) return { completeBy, remainingMs: null };
  return { completeBy: null, remainingMs: completeBy === null ? null : Math.max(0, completeBy - suspendedAt) };
}

/** A tenth of the time for which its oldest entry has been waiting. */
export function outboxPauseMs(outbox: readonly OutboxEntry[], now: number): number {
  const waited = outbox.map((entry) => now - Date.parse(String((entry.kind === 'status' ? entry.message : entry.detail)['at'])));
  return Math.min(outboxMaxMs, Math.max(outboxMs, ...waited.map((ms) => (Number.isFinite(ms) ? Math.round(ms / 10) : 0))));
}

/** Of the whole order: it names the agent that has the most time, for where it is away, the order waits and is not late; and the highest count. */
function claimOf(steps: readonly Deadline[]): DueFor {
  const { agent } = steps.reduce((latest, each) => (each.at > latest.at ? each : latest)).for;
  const failures = Math.max(...steps.map((step) => step.for.failures ?? 0));
  return { kind: 'claim', ...(agent === undefined ? {} : { agent }), ...(failures === 0 ? {} : { failures }) };
}

/** What was counted as late stays so until it is asked again, whatever else is written meanwhile: it must not count once more. */
export function countedUntil({ nextDueAt, nextDueFor }: Pick<StateRecord, 'nextDueAt' | 'nextDueFor'>): number | undefined {
  return (nextDueFor?.kind === 'request' ? nextDueAt : nextDueFor?.waitsUntil) ?? undefined;
}

/** What is kept of the next deadline while the order is suspended: what was counted must not count once more. */
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

/** The same later, when the order is resumed. */
export const thawedDue = (due: DueFor | null, byMs: number): DueFor | null =>
  due?.waitsUntil === undefined ? due : { ...due, waitsUntil: due.waitsUntil + byMs };

/** The exact next deadline of an order, or none. */
export function nextDeadline(program: Program, state: State, record: StateRecord, now: number): Deadline | undefined {
  // What it has to tell is told all the same.
  if (isStopped(record))
    return record.outbox.length === 0
      ? undefined
      : { at: now + outboxPauseMs(record.outbox, now), for: { ...frozenDue(record), kind: 'outbox' } };
  // After a reset every asking is void: until the order is claimed, nothing of it can be late.
  const waiting = record.processState === 'Processing' ? outstanding(program, state) : [];
  const steps = waiting.filter(({ counts }) => counts);
  const completeBy = completeByOf(program, state);
  const expiries =
    record.recover === 'step' || completeBy === null || steps.length === 0
      ? steps
      : [{ at: completeBy, for: claimOf(steps), counts: true }];
  const wait = countedUntil(record);
  const late = wait === undefined ? [] : expiries.filter(({ at }) => at <= now);
  const waitsUntil = late.length > 0 ? wait : undefined;
  const candidates: Deadline[] = [
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
  // What comes before its end must not make the wait forgotten; nor may an asking its place among those who wait.
  const { waitingSince, path } = record.nextDueFor ?? {};
  const waits = waitsUntil !== undefined && first.at < waitsUntil ? { waitsUntil } : {};
  const place = waitingSince !== undefined && path === first.for.path ? { waitingSince } : {};
  return { ...first, for: { ...first.for, ...waits, ...place } };
}

/** Of steps that are late together the one that was late most is judged. */
const isBefore = (one: Deadline, other: Deadline): boolean =>
  one.at === other.at ? (one.for.failures ?? 0) > (other.for.failures ?? 0) : one.at < other.at;

/** Nothing of it can be due. In Error it waits for a person first, as any other. */
export const isStopped = ({ suspended, processState }: Pick<StateRecord, 'suspended' | 'processState'>): boolean =>
  suspended && (processState === 'Pending' || processState === 'Processing');

/**
 * Where the order stands in the worklist. Lazy: its entry moves only to an earlier time, so that an order that runs
 * well writes it once and removes it once; the supervisor moves an entry that it finds too early.
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
