import type { EventContent } from '#core/data/event';
import { definitionPath, firstGenerationOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { Program } from '#core/definition/program';
import { undoneBy } from '#core/engine/replay';
import { provesRefusal } from '#core/engine/step-replies';
import type { Subject } from '#core/engine/transition';
import { isWithin } from '#core/engine/undo-pages';

/** An activity as the journal has it. */
export type PastActivity = {
  /** The generation and the attempt of its last request. */
  readonly generation: number;
  readonly attempt: number;
  /** `open`: it is requested, or has begun. `unknown`: nobody knows how it ended. `gone`: nothing was done. `undone`: done, then undone. */
  readonly outcome: 'open' | 'unknown' | 'done' | 'gone' | 'undone';
  /** Whether it was closed without being done. */
  readonly skipped?: true;
  /** The output, without secrets. */
  readonly output?: Json;
};

export type Past = ReadonlyMap<string, PastActivity>;

/** A line of the journal: a fact, with its event unless the fact tells the event. */
type Line = CoreFact & { readonly event?: EventContent };

/** Returns what a journal says about each activity, by path. An undo counts for the activity that it undoes. */
export function pastOf(program: Program, subject: Subject, facts: readonly { readonly type: string }[]): Past {
  const past = new Map<string, PastActivity>();
  const first = firstGenerationOf(subject);
  const refused = new Map<string, boolean>();
  for (const fact of facts as readonly Line[]) {
    if (!('path' in fact) || fact.path === undefined || !program.nodes.has(definitionPath(fact.path))) continue;
    const { path } = fact;
    const undone = undoneBy(program, path);
    const known = past.get(undone ?? path) ?? { generation: first, attempt: 0, outcome: 'open' as const };
    if (undone !== undefined) {
      if (fact.type === 'ActivityClosed' && fact.result === 'Compensated') undo(past, undone, known);
    } else if (fact.type === 'StepRequested') {
      refused.delete(path);
      past.set(path, { ...attemptIn(fact.attemptId, known), outcome: 'open' });
    }
    // The first fault after a request decides. A later one, such as that of a rule, says nothing about the service.
    else if ('fault' in fact && fact.fault !== undefined) refused.set(path, refused.get(path) ?? provesRefusal(fact, fact.fault));
    else if (fact.type === 'ActivityStarted') past.set(path, { generation: known.generation, attempt: known.attempt, outcome: 'open' });
    else if (fact.type === 'MarkedCompensated') undo(past, path, known);
    else if (fact.type === 'OutcomeUnknown') past.set(path, { ...known, outcome: 'unknown' });
    else if (fact.type === 'ActivitySkipped' && fact.effect === 'none') past.set(path, { ...known, skipped: true });
    else if (fact.type === 'ActivityClosed') past.set(path, closedWith(known, fact, refused.get(path) === true));
  }
  return past;
}

/** Notes that an activity is undone, with its parts if it is undone as a whole. */
function undo(past: Map<string, PastActivity>, path: string, known: PastActivity): void {
  past.set(path, { ...known, outcome: 'undone' });
  for (const [each, part] of past) if (isWithin(each, path) && part.outcome === 'done') past.set(each, { ...part, outcome: 'undone' });
}

function attemptIn(attemptId: string, { generation, attempt }: PastActivity): Pick<PastActivity, 'generation' | 'attempt'> {
  const [, gen, , tries] = /^(\d+)#(\d+)\.(\d+)$/.exec(attemptId) ?? [];
  return { generation: Number(gen ?? generation), attempt: Number(tries ?? attempt) };
}

function closedWith(known: PastActivity, fact: Extract<CoreFact, { type: 'ActivityClosed' }>, isRefused: boolean): PastActivity {
  const { generation, attempt, outcome, skipped } = known;
  const request = fact.attemptId === undefined ? { generation, attempt } : attemptIn(fact.attemptId, known);
  const { output } = fact;
  if (fact.result === 'Succeeded')
    return { ...request, outcome: 'done', ...(output === undefined ? {} : { output }), ...(skipped ? { skipped } : {}) };
  // A step that failed may have been done, unless its service refused it. For a canceled step, the fact `OutcomeUnknown` says so.
  if (fact.result === 'Faulted' && request.attempt > 0 && !isRefused && outcome === 'open') return { ...request, outcome: 'unknown' };
  return outcome === 'undone' || outcome === 'unknown' ? known : { ...request, outcome: 'gone' };
}
