import type { Order, Step } from '../api/types.ts';
import type { IconName } from '../parts/icons.ts';
import { lengthOf } from '../time.ts';

/** The look of a state of an activity. Color, icon, stroke and word say the same. */
export interface Look {
  readonly kind: string;
  readonly icon: IconName;
  readonly tone: string;
  /** The state in words, for the list and for screen readers. */
  readonly word: string;
  /** A few characters at the right of a box. */
  readonly says: string;
}

/** The known part of a step: as it is now, or as it was at a past entry of the history. */
export type Known = Pick<Step, 'path' | 'status' | 'result' | 'attempts' | 'startedAt' | 'closedAt'> &
  Partial<Pick<Step, 'activity' | 'waitsFor' | 'completeBy' | 'skipped'>> & { readonly isSkipped?: boolean; readonly isUnknown?: boolean };

/** The parts of an order that decide how its steps look. */
export interface Around {
  readonly fault: Pick<NonNullable<Order['fault']>, 'type' | 'source'> | null;
  readonly undo?: Order['undo'];
  /** Nothing is requested until somebody resumes the order. */
  readonly suspended?: boolean;
}

const look = (kind: string, icon: IconName, tone: string, word: string, says = word): Look => ({ kind, icon, tone, word, says });

const unknownTypes = new Set(['OutcomeUnknown', 'InvalidReply']);

/** Returns the look of a step. `undo` is the step that undoes it, if that step has begun. */
export function lookOf(step: Known, around: Around, undo?: Known): Look {
  const { status, result, attempts } = step;
  if (around.undo?.stuck.some(({ path }) => path === step.path))
    return look('stuck', 'stuck', 'c-stop', 'its undo keeps failing', 'undo fails');
  if (undo?.skipped === 'done') return look('undone', 'undo', 'c-undo', 'marked as undone by hand', 'by hand');
  const isBeingUndone = undo !== undefined && undo.status !== 'Closed' && result !== 'Compensated';
  if (around.suspended && isBeingUndone)
    return look('undoing', 'pause', 'c-undo', 'its undo stands still: the order is suspended', 'suspended');
  if (status === 'Compensating' || isBeingUndone) return look('undoing', 'undo', 'c-undo', 'being undone');
  if (result === 'Compensated') return look('undone', 'undo', 'c-undo', 'undone');
  if (step.isSkipped) return look('skip', 'skip', '', 'skipped');
  // A canceled step needs no decision, although its service may have done the work.
  if (step.isUnknown && status === 'Closed' && result === 'Canceled')
    return look('idle', 'unknown', '', 'canceled before its answer came: perhaps it was done', 'perhaps done');
  if (step.isUnknown) return look('unknown', 'unknown', 'c-warn', 'its outcome is not known', 'not known');
  switch (status) {
    case 'Initialized':
      return look('idle', 'idle', '', 'not begun', '');
    case 'Canceling':
      return look('cancel', 'cancel', '', 'being canceled', 'canceling');
    case 'Faulting':
      return blocked(around);
    case 'Closed':
      return closed(step, around);
    case 'Executing':
      return around.suspended ? look('rest', 'pause', '', 'stands still: the order is suspended', 'suspended') : atWork(step, attempts);
  }
}

function blocked({ fault }: Around): Look {
  if (fault?.type === 'OperatorAsked') return look('ask', 'question', 'c-warn', 'asks a person', 'question');
  if (fault && unknownTypes.has(fault.type)) return look('unknown', 'unknown', 'c-warn', 'its outcome is not known', 'not known');
  return look('block', 'stop', 'c-stop', 'failed: a person decides', 'failed');
}

function closed({ result, startedAt, closedAt, attempts }: Known, { undo }: Around): Look {
  if (result === 'Canceled') return look('cancel', 'cancel', '', 'canceled');
  if (result === 'Faulted') return look('late', 'warn', 'c-warn', 'failed, and the workflow handled it', 'failed');
  if (undo) return look('done', 'done', 'c-ok', 'still done');
  const took = startedAt !== null && closedAt !== null ? lengthOf(Date.parse(closedAt) - Date.parse(startedAt)) : '';
  const run = attempts > 1 ? `${attempts} requests` : '';
  return look('done', 'done', 'c-ok', ['done', run, took].filter(Boolean).join(', '), attempts > 1 ? `${ordinal(attempts)} try` : took);
}

function atWork({ waitsFor, activity = 'step' }: Known, attempts: number): Look {
  if (waitsFor?.kind === 'outage') return look('late', 'clock', 'c-warn', 'waits for the service', 'outage');
  if (activity !== 'step' || waitsFor) return look('rest', 'clock', 'c-work', 'waits');
  if (attempts > 1) return look('late', 'clock', 'c-warn', `requested ${attempts} times`, `${ordinal(attempts)} request`);
  return look('work', 'work', 'c-work', 'at work');
}

const suffixes: { readonly [rule: string]: string } = { one: 'st', two: 'nd', few: 'rd' };
const rules = new Intl.PluralRules('en', { type: 'ordinal' });
/** `1st`, `2nd`, `3rd`. */
export const ordinal = (count: number): string => `${count}${suffixes[rules.select(count)] ?? 'th'}`;

/** The path in the definition: without the turns of loops. */
export const definitionPath = (path: string): string => path.replaceAll(/\[\d+\]/g, '');

export const isUndo = (path: string): boolean => path.endsWith('/undo');
const undoneBy = (path: string): string => path.slice(0, -'/undo'.length);

/** Kinds of looks, the most urgent first. A step in a loop shows the most urgent look of its turns. */
const urgency = ['stuck', 'block', 'ask', 'unknown', 'late', 'work', 'undoing', 'rest', 'idle', 'done', 'undone', 'skip', 'cancel'];

/** Returns the looks of all steps by the path of the definition, and how many turns of a loop are done. */
export function looksOf(steps: readonly Known[], around: Around): ReadonlyMap<string, Look> {
  const undos = new Map(steps.filter(({ path }) => isUndo(path)).map((step) => [undoneBy(step.path), step]));
  const turns = Map.groupBy(
    steps.filter(({ path }) => !isUndo(path)),
    ({ path }) => definitionPath(path),
  );
  return new Map(
    [...turns].map(([path, list]) => {
      const looks = list.map((step) => lookOf(step, around, undos.get(step.path)));
      const first = looks.toSorted((one, other) => urgency.indexOf(one.kind) - urgency.indexOf(other.kind))[0] as Look;
      if (list.length === 1) return [path, first];
      const done = list.filter(({ result }) => result === 'Succeeded').length;
      return [path, { ...first, says: `${done} of ${list.length}`, word: `${first.word}; ${done} of ${list.length} turns done` }];
    }),
  );
}
