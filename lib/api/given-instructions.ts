import { shortType } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import type { Outcome } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { exceptionFingerprint } from '#core/exceptions/fingerprint';
import { isJudged, judge, judgedAs, type Verdict, type Watch, watchOf } from '#core/exceptions/verdict';
import { timeText } from '#ports/messages';
import { exceptionPlaceOf, taskIdOf } from '#roles/exceptions/ids';
import type { JournalEntry } from '#roles/scheduler/instance';

type Given = Extract<JournalEntry, { type: 'InstructionGiven' }>;
type Blocking = Extract<JournalEntry, { type: 'OrderBlocked' }>;

/** An instruction of a person, as an order shows it. */
export interface ShownInstruction {
  readonly kind: string;
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}

/** The last instruction to an order, and what it has led to. */
export interface LastInstruction extends ShownInstruction {
  /** Whether it has helped; null for a kind that is not judged. */
  readonly verified: Verdict | 'running' | null;
  /** The fault with which it failed. */
  readonly fault: { readonly type: string; readonly message: string } | null;
  /** The fault at which the order was blocked before the instruction. */
  readonly faultBefore: { readonly type: string; readonly message: string } | null;
  /** The values before the instruction, and the values that it gives, as the history has them. */
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** The task that it has resolved. */
  readonly taskId: string | null;
}

/** Returns the last instruction of a person, judged by what the journal has after it; undefined if there is none. */
export function lastInstructionIn(program: Program, journal: readonly JournalEntry[]): LastInstruction | undefined {
  const from = journal.findLastIndex(({ type }) => type === 'InstructionGiven');
  const given = journal[from];
  if (given?.type !== 'InstructionGiven') return undefined;
  const later = journal.slice(from + 1);
  const before = journal.slice(0, from);
  const outcomes = watchesFor(program, given, { before, later }).map((watch) => outcomeOf(program, watch, later));
  const blocking = blockingIn(before);
  return {
    ...shown(given),
    ...worstOf(outcomes),
    faultBefore: blocking ? faultIn(blocking) : null,
    before: withoutStanding(given.before),
    after: withoutStanding(given.after),
    taskId: taskIn(later),
  };
}

/** Returns the values of an instruction without the state of the order. */
const withoutStanding = ({ processState: _, outcome: __, suspended: ___, ...values }: NonNullable<Given['after']> = {}): JsonObject =>
  values;

const endings: { readonly [outcome in Outcome]?: readonly string[] } = {
  canceled: ['cancel'],
  compensated: ['compensate', 'recover', 'restart'],
  terminated: ['terminate', 'restart'],
};

/**
 * Returns the instruction by which a person has ended the order, or has it undone; undefined if nobody has. An instruction with the path of
 * a part does not count: after it has undone this part, the order goes on.
 */
export function endedByIn(outcome: Outcome | null | undefined, journal: readonly JournalEntry[]): ShownInstruction | undefined {
  const kinds = outcome ? (endings[outcome] ?? []) : [];
  const given = journal.findLast((entry) => entry.type === 'InstructionGiven' && kinds.includes(entry.kind) && isOfWhole(entry));
  return given?.type === 'InstructionGiven' ? shown(given) : undefined;
}

const isOfWhole = ({ after }: Given): boolean => (after?.['path'] ?? rootPath) === rootPath;

const shown = ({ kind, by, at, reason }: Given): ShownInstruction => ({ kind, by, at: timeText(at), reason });

interface Around {
  readonly before: readonly JournalEntry[];
  readonly later: readonly JournalEntry[];
}

/**
 * Returns the watches that show whether an instruction has helped; none for a kind that is not judged, or for `restart`, which leads to a
 * new order.
 */
function watchesFor(program: Program, { kind, at, after }: Given, { before, later }: Around): readonly Watch[] {
  const action = { kind, path: after?.['path'] };
  if (!isJudged(judgedAs(action)) || kind === 'restart') return [];
  // Each open exception has a handler, which begins in the write of the instruction.
  if (kind === 'handle')
    return later.flatMap((fact) =>
      fact.type === 'HandlerStarted' && fact.at === at ? [watchOf(action, { exceptionId: fact.exceptionId })] : [],
    );
  return [watchForStep(program, action, blockingIn(before))];
}

function watchForStep(program: Program, action: Parameters<typeof watchOf>[0], failed: Blocking | undefined): Watch {
  if (!failed) return watchOf(action, {});
  const { fault } = failed;
  const path = fault.source ?? failed.path;
  return watchOf(action, { path, fingerprint: exceptionFingerprint({ workflow: program.definition.name, path, fault }) });
}

/** Returns what blocks an order at the end of these lines. */
function blockingIn(journal: readonly JournalEntry[]): Blocking | undefined {
  const last = journal.findLast(({ type }) => type === 'OrderBlocked' || type === 'OrderUnblocked');
  return last?.type === 'OrderBlocked' ? last : undefined;
}

type Found = Pick<LastInstruction, 'verified' | 'fault'>;

/** An instruction that handles several exceptions has helped if it has helped with each. */
const worstOf = (found: readonly Found[]): Found =>
  found.find(({ verified }) => verified === 'failed-otherwise') ??
  found.find(({ verified }) => verified === 'running') ??
  found[0] ?? { verified: null, fault: null };

/** Judges an instruction line by line, so that the line which decides can name its fault. */
function outcomeOf(program: Program, watch: Watch, later: readonly JournalEntry[]): Found {
  let current = watch;
  for (const fact of later) {
    const found = judge(program, current, [fact]);
    if (typeof found === 'string') return { verified: found, fault: found === 'passed' ? null : faultIn(fact) };
    current = found;
  }
  return { verified: 'running', fault: null };
}

const faultIn = (fact: JournalEntry): LastInstruction['fault'] =>
  'fault' in fact && fact.fault ? { type: shortType(fact.fault.type), message: fact.fault.message } : null;

/** Returns the task of the exception about which the instruction has decided. */
function taskIn(later: readonly JournalEntry[]): string | null {
  const handled = later.find((entry) => entry.type === 'ExceptionHandled' && entry.handling.by === 'person');
  const place = handled?.type === 'ExceptionHandled' ? exceptionPlaceOf(handled.exceptionId) : undefined;
  return place ? taskIdOf(place.orderId, place.seq) : null;
}
