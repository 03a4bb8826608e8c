import type { EventContent } from '#core/data/event';
import type { Json, JsonObject } from '#core/data/json';
import type { Outcome, ProcessState, State } from '#core/data/state';
import type { OperationSchemas } from '#core/definition/catalog';
import type { Program } from '#core/definition/program';
import type { Subject } from '#core/engine/transition';
import type { TransitionBuilder } from '#core/engine/transition-builder';
import type { Past } from './past.ts';

/** The codes of reasons against an instruction. `docs/operations/instructions.md` explains each of them. */
export const refusalCodes = [
  'answer-missing',
  'constraint',
  'effects-stand',
  'finished',
  'input-invalid',
  'inside-loop',
  'locked',
  'moved-on',
  'no-question',
  'no-such-step',
  'no-undo',
  'not-blocked',
  'not-suspended',
  'nothing-to-do',
  'other-branch',
  'outcome-unknown',
  'output-invalid',
  'output-missing',
  'suspended',
  'time-limit-passed',
  'too-large',
  'undo-running',
  'unreadable',
  'version-differs',
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** A reason against an instruction. */
export interface InstructionRefusal {
  readonly code: RefusalCode;
  /** The activity that the reason is about. */
  readonly path?: string;
  /** A JSON pointer into the instruction, if a value of it is at fault. */
  readonly pointer?: string;
  readonly detail: string;
}

/** Something that a person should know before they give an instruction. */
export type InstructionWarning = Pick<InstructionRefusal, 'code' | 'path' | 'detail'>;

/** Answers questions about JSON Schemas. The core itself validates nothing. */
export interface Schemas {
  /** Returns the schemas of an operation; undefined if they are unknown. */
  readonly of: (agent: string, operation: string) => OperationSchemas | undefined;
  /** Returns the problems of a value, each with a JSON pointer that begins with `at`. */
  readonly problems: (schema: JsonObject, value: Json, at: string) => readonly { readonly pointer: string; readonly detail: string }[];
}

/** The order for which an instruction is checked, and all else that the check reads. */
export interface Judged {
  readonly program: Program;
  readonly subject: Subject;
  readonly state: State;
  readonly processState: ProcessState;
  readonly outcome: Outcome | null;
  readonly suspended: boolean;
  /** The number of exceptions and tasks of the order that are open. */
  readonly openCauses: number;
  /** The number of its open exceptions that came from outside while the order was stopped. */
  readonly openReports: number;
  /** The order that replaces this one. */
  readonly restartedAs?: string | undefined;
  /** The number of orders that handle exceptions of this one, and have not ended. */
  readonly handlers?: number | undefined;
  readonly schemas: Schemas;
  /** The activities in the journal, for kinds that read it; empty for the others. */
  readonly past: Past;
  /** Returns another version of a workflow; undefined if the app does not have it. */
  readonly programs: (name: string, version: number) => Program | undefined;
  /** Returns the newest version of a workflow; undefined if the app does not have it. */
  readonly newest: (name: string) => Program | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One kind of instruction: when it is feasible, and what it does. A new kind needs a file in this folder and its line in the index. */
export interface InstructionKind<I> {
  /** Whether the kind reads what the journal says. */
  readonly readsHistory?: true;
  /** Returns every reason against the instruction; none if it is feasible. */
  readonly refusals: (order: Judged, instruction: I) => readonly InstructionRefusal[];
  readonly warnings?: (order: Judged, instruction: I) => readonly InstructionWarning[];
  /** Returns the paths of activities that are closed without being done. */
  readonly skips?: (order: Judged, instruction: I) => readonly string[];
  /** Whether an order in Error, or a suspended one, stays so for the present. Default: the instruction lets the order continue. */
  readonly staysStopped?: (order: Pick<Judged, 'program' | 'state'>, instruction: I) => boolean;
  /** Returns the attributes of the order's record that the instruction changes. */
  readonly changesRecord?: (instruction: I) => { readonly maxFailures?: number };
  /** Returns the earlier values of everything that the instruction changes, for the history. */
  readonly was?: (order: Pick<Judged, 'program' | 'state'>, instruction: I) => JsonObject;
  /** Returns the event of the kind. Default: `instructed`, which calls `apply`. */
  readonly event?: (order: Pick<Judged, 'program' | 'state' | 'subject' | 'past'>, instruction: I) => EventContent;
  /** Applies the instruction to an order that has begun and is not closed. */
  readonly apply?: (builder: TransitionBuilder, instruction: I) => void;
}

export const refusal = (
  code: RefusalCode,
  detail: string,
  about: Pick<InstructionRefusal, 'path' | 'pointer'> = {},
): InstructionRefusal => ({
  code,
  ...about,
  detail,
});

/** Returns the reason against every instruction to a finished order. */
export const whenFinished = ({ processState, outcome }: Judged): readonly InstructionRefusal[] =>
  processState === 'Processed' ? [refusal('finished', `The order is finished (${outcome}). Submit a new one instead.`)] : [];

/** Returns the reason against a finished order without an open exception, for instructions that decide about exceptions. */
export const whenNothingIsOpen = (order: Judged): readonly InstructionRefusal[] =>
  order.processState === 'Processed' && order.openCauses > 0 ? [] : whenFinished(order);

/** Returns the reason against instructions that need an order which is not being undone. */
export function whenUndone({ state, processState }: Judged): readonly InstructionRefusal[] {
  const { ending } = state;
  if (!ending) return [];
  const how =
    processState === 'Error'
      ? `The order is already being undone, but is in Error. Resubmit it: the undo continues, and the order ends as ${ending.outcome}.`
      : `The order is already being undone, and will end as ${ending.outcome}.`;
  return [refusal('undo-running', how)];
}

/** Returns the reason against instructions to an order that was suspended before it went into Error. */
export const whenSuspendedInError = ({ suspended, processState }: Judged): readonly InstructionRefusal[] =>
  suspended && processState === 'Error'
    ? [refusal('suspended', 'The order was suspended before it went into Error. Resume it first.')]
    : [];

/** Returns the reasons of the first of these functions that has any. */
export function firstOf(...reasons: readonly (() => readonly InstructionRefusal[])[]): readonly InstructionRefusal[] {
  for (const reasonsOf of reasons) {
    const found = reasonsOf();
    if (found.length > 0) return found;
  }
  return [];
}
