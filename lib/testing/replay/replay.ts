import type { State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { type Program, programOf } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import type { Check } from '#core/instructions/check';
import { explain } from '#core/views/explain';
import { timeText } from '#ports/messages';
import type { Outcome, ProcessState } from '#ports/records';
import type { OrderCase } from '#roles/cases/case';
import { differenceBetween } from '#roles/repair/compare';
import { type FoldedMoment, folded } from '#roles/repair/fold';
import { encodeInstance, type Instance, type JournalEntry, newInstance, newRecord, type StoredEntry } from '#roles/scheduler/instance';
import { shownLine } from '#roles/scheduler/recorded-events';
import type { Loaded } from '#roles/scheduler/types';
import type { TestInstruction } from '#testing/rehearse/stubs';
import { caseIn, ReplayError } from './case-file.ts';
import { dryRun } from './dry-run.ts';
import { headAt, isOfClaim, processStateAt } from './head-at.ts';

/** An order after one of its events. */
export interface Moment {
  /** The number of the last journal line up to then. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The lines of the journal that the event led to. */
  readonly lines: readonly JournalEntry[];
  readonly processState: ProcessState;
  /** The outcome of the order; null before its end. */
  readonly outcome: Outcome | null;
  readonly state: State;
  /** Explains in one sentence why the order was in its state. */
  why(): string;
  /**
   * Returns what an instruction would have done at this moment, as `dryRun` does over HTTP. Rules and leases are those of the export.
   *
   * @throws TypeError with the pointers of values that do not fit their schema.
   */
  check(instruction: TestInstruction): Promise<Check>;
}

export interface ReplayOptions {
  /** The workflow to replay the events with, such as its next version. Default: the workflow of the case. */
  readonly workflow?: WorkflowDefinition;
  /** Other versions of the workflow, for checks of `migrate` and `restart`. */
  readonly workflows?: readonly WorkflowDefinition[];
  /** Called after each event, while the replay runs. */
  readonly onMoment?: (moment: Moment) => void;
}

export interface Replayed {
  readonly orderId: string;
  /** Describes the first line of the journal, or field of the state, that the replay did not reproduce. Undefined if there is none. */
  readonly difference: string | undefined;
  /** The order after each event, up to the first difference. */
  readonly moments: readonly Moment[];
  /** The last of these moments. */
  readonly end: Moment;
  /** The journal that the events led to, oldest line first. */
  readonly journal: readonly JournalEntry[];
  /**
   * Returns the order after the event of a journal line (a number), or at a time (ISO 8601, or a Date).
   *
   * @throws ReplayError if the order had no such moment.
   */
  at(moment: number | string | Date): Moment;
}

/**
 * Replays an exported order on the engine: `replay(JSON.parse(readFileSync('case.json', 'utf8')))`. It applies the recorded events in turn,
 * so a debugger stops in the functions of the app and in the engine. Import functions and custom activities before the call.
 *
 * @throws ReplayError if the content is not a case, or if not even its first event can be applied.
 */
export function replay(content: unknown, options: ReplayOptions = {}): Replayed {
  const given = caseIn(content);
  const program = programOf(options.workflow ?? given.definition);
  const { workflows = [] } = options;
  const moments: Moment[] = [];
  let claim: StoredEntry | undefined;
  const result = folded(recordsOf(given, program), given.journal, (folding) => {
    claim = folding.lines.findLast(isOfClaim) ?? claim;
    const moment = momentOf(given, { program, folding, workflows, claim });
    moments.push(moment);
    options.onMoment?.(moment);
  });
  const end = moments.at(-1);
  if (!end) throw new ReplayError(result.ok ? 'The journal is empty.' : result.reason);
  return {
    orderId: given.order.orderId,
    difference: result.ok ? differenceFrom(given, result.instance) : result.reason,
    moments,
    end,
    journal: moments.flatMap(({ lines }) => lines),
    at: (moment) => momentIn(moments, moment),
  };
}

/** Returns what the fold reads of an order: its records, without an instance. */
function recordsOf({ order: kept, head }: OrderCase, program: Program): Omit<Loaded, 'instance'> {
  const order = { ...kept, hash: '', answer: '' };
  const { stepMs, maxFailures, definition: hash } = head;
  const record = { ...newRecord(order, program.definition, { stepMs, maxFailures, hash }), ...head, blob: encodeInstance(newInstance) };
  return { program, order, record };
}

function differenceFrom({ state }: OrderCase, instance: Instance): string | undefined {
  const difference = state === null ? undefined : differenceBetween({ ...instance, state }, instance);
  return difference && `The events lead to another value of ${difference.field} than the state has.`;
}

interface Folding {
  readonly program: Program;
  readonly folding: FoldedMoment;
  readonly workflows: readonly WorkflowDefinition[];
  /** The last line about a claim of the order. */
  readonly claim: StoredEntry | undefined;
}

function momentOf(given: OrderCase, { program: defined, folding, workflows, claim }: Folding): Moment {
  const { epoch, state } = folding;
  const lines = folding.lines.map(shownLine) as readonly JournalEntry[];
  const { seq, at } = lines.at(-1) as JournalEntry;
  const program = withRuledUndos(defined, state);
  const isLast = seq === given.journal.at(-1)?.seq;
  const processState = isLast ? given.head.processState : processStateAt(state, claim);
  return {
    seq,
    at,
    lines,
    processState,
    outcome: processState === 'Processed' ? (state.outcome ?? 'completed') : null,
    state,
    why: () => explain(program, state, at),
    check(instruction) {
      const past = { program, epoch, instance: folding.instance() };
      return dryRun({ ...past, given, at, workflows, head: isLast ? given.head : headAt(given, past) }, instruction);
    },
  };
}

function momentIn(moments: readonly Moment[], moment: number | string | Date): Moment {
  const first = moments[0]?.lines[0];
  const last = moments.at(-1);
  if (typeof moment === 'number') {
    const found = moments.find(({ seq, lines }) => moment <= seq && lines.some((line) => line.seq === moment));
    if (found) return found;
    throw new ReplayError(`The replay has no line ${moment}: expected one from ${first?.seq} to ${last?.seq}.`);
  }
  const at = moment instanceof Date ? moment.getTime() : Date.parse(moment);
  const found = moments.findLast((each) => each.at <= at);
  if (found) return found;
  throw new ReplayError(`The order did not exist at ${String(moment)}: expected a time from ${timeText(first?.at ?? 0)} on.`);
}
