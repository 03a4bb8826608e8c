import type { Program } from '#core/definition/program';
import type { ExceptionRecord } from '#core/exceptions/exception';
import { isJudged, judge, judgedAs } from '#core/exceptions/verdict';
import type { Resolution } from '#core/rules/resolution';
import type { Store } from '#ports/store';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import type { JournalEntry } from '#roles/scheduler/instance';

/** The decision that ended an exception. */
export interface WhatHappened extends Resolution {
  /** The rule's id, or the person's `sub`. */
  readonly id?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Returns what ended an exception, and whether it helped; null while it is open. The task has the instruction of a person, the journal the
 * action of a rule.
 */
export async function resolutionOf(
  exception: ExceptionRecord,
  program: Program,
  journal: readonly JournalEntry[] | undefined,
  store: Store,
): Promise<WhatHappened | null> {
  const { handling, orderId, seq } = exception;
  if (!handling) return null;
  const { control: _, ...happened } = handling;
  if (handling.by === 'rule') return { ...happened, ...ruleAction(exception, program, journal ?? []) };
  if (handling.by !== 'person') return happened;
  const task = await taskOf(exception.taskId ?? taskIdOf(orderId, seq), store);
  const kind = task?.resolution?.instruction?.['kind'];
  return {
    ...happened,
    ...(typeof kind === 'string' ? { kind } : {}),
    ...(task?.verified === undefined ? {} : { verified: task.verified }),
  };
}

/** Judges the action of a rule by what the journal has after it. */
function ruleAction(
  { id, path, fingerprint, handling }: ExceptionRecord,
  program: Program,
  journal: readonly JournalEntry[],
): Pick<WhatHappened, 'kind' | 'verified'> {
  const end = journal.findIndex((entry) => entry.type === 'ExceptionHandled' && entry.exceptionId === id);
  const from = journal.findLastIndex((entry, index) => index < end && entry.type === 'RuleActed' && entry.ruleId === handling?.id);
  const acted = journal[from];
  if (acted?.type !== 'RuleActed') return {};
  const { kind } = acted.action;
  const judged = judgedAs(acted.action);
  if (!isJudged(judged)) return { kind };
  const found = judge(program, { kind: judged, fingerprint, ...(path === null ? {} : { path }) }, journal.slice(from + 1));
  return { kind, verified: typeof found === 'string' ? found : 'running' };
}
