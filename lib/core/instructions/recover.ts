import type { EventContent } from '#core/data/event';
import { definitionPath } from '#core/data/ids';
import { isRemote, rootPath } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import type { TransitionBuilder } from '#core/engine/transition-builder';
import { dependentsOf } from '#core/recovery/dependents';
import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished, whenUndone } from './kind.ts';
import type { PastActivity } from './past.ts';
import { type ResumeAt, resumeAt } from './resume-at.ts';
import { isAtOrAfter } from './way.ts';

/**
 * Undoes the affected scope of an activity, and has the order go on there. Without a path it undoes the whole order, which ends as
 * compensated. Orders that have read what is undone get a message about it. Source: requirements.md F-146 to F-152.
 */
export interface Recover {
  readonly kind: 'recover';
  readonly path?: string;
  /** The activities in the journal. The system adds them. */
  readonly past?: { readonly [path: string]: PastActivity };
}

export const recover = {
  readsHistory: true,
  refusals: (order: Judged, { path = rootPath }: Recover) =>
    path === rootPath
      ? ofOrder(order)
      : firstOf(
          () => resumeAt.refusals(order, goingOnAt(path)),
          () => ofScope(order, path),
        ),
  event: ({ past }: Pick<Judged, 'past'>, { path = rootPath }: Recover): EventContent =>
    path === rootPath
      ? { type: 'canceled', outcome: 'compensated', recovers: true }
      : { type: 'instructed', instruction: { kind: 'recover', path, past: Object.fromEntries(past) } },
  apply(builder: TransitionBuilder, { path, past = {} }: Recover) {
    if (path === undefined) return;
    builder.set({ recovering: path });
    resumeAt.apply?.(builder, { ...goingOnAt(path), past });
  },
} satisfies InstructionKind<Recover>;

/**
 * Returns the event with which a rule recovers an order, or the reason against it (F-133). An order that has not begun ends at once, as
 * with `compensate`.
 */
export function ruledRecovery(order: Judged, path: string | undefined): { readonly event: EventContent } | { readonly refusal: string } {
  const instruction: Recover = { kind: 'recover', ...(path === undefined || path === rootPath ? {} : { path }) };
  const isUnbegun = instruction.path === undefined && order.state.phase === 'initialized';
  const [refused] = isUnbegun ? [] : recover.refusals(order, instruction);
  return refused ? { refusal: refused.detail } : { event: recover.event(order, instruction) };
}

const goingOnAt = (path: string): ResumeAt => ({ kind: 'resume-at', path, undoBetween: true });

const ofOrder = (order: Judged): readonly InstructionRefusal[] =>
  firstOf(
    () => whenFinished(order),
    () => whenUndone(order),
    () => (order.state.phase === 'initialized' ? [refusal('nothing-to-do', 'The order has not begun yet. Cancel it instead.')] : []),
  );

/**
 * Returns the reasons against an affected scope of which nothing has begun, or of which a step that may have done something is in another
 * branch.
 */
function ofScope({ program, past }: Judged, path: string): readonly InstructionRefusal[] {
  const scope = new Set(dependentsOf(program, definitionPath(path)).scope);
  const begun = [...past].flatMap(([each, { outcome }]) => (outcome !== 'undone' && scope.has(definitionPath(each)) ? [each] : []));
  if (begun.length === 0) return [refusal('nothing-to-do', `Neither ${path} nor any activity that depends on it has begun.`, { path })];
  return begun
    .filter((each) => isRemote(nodeAt(program, each)) && past.get(each)?.outcome !== 'gone' && !isAtOrAfter(program, each, path))
    .map((each) => {
      const around = sharedBy(each, path);
      const instead = around === rootPath ? 'Recover the whole order, without a path' : `Recover ${around}`;
      return refusal('other-branch', `${each} depends on ${path}, but is in another branch. ${instead} instead.`, { path: each });
    });
}

/** Returns the innermost activity around two others. */
function sharedBy(path: string, other: string): string {
  const [mine, theirs] = [path.split('/'), other.split('/')];
  const differs = mine.findIndex((name, index) => name !== theirs[index]);
  return mine.slice(0, differs < 0 ? mine.length : differs).join('/');
}
