import { unblock } from './blocking.ts';
import { cancel } from './cancellation.ts';
import { runJobs } from './jobs.ts';
import { forgetLate } from './lateness.ts';
import { resumeInside } from './resuming.ts';
import { continueAll, isToRepeat } from './resumption.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { isAt } from './undo-pages.ts';

/**
 * Ends the block of an order, cancels what is at work in an open scope around the blocked activity, and undoes what was done in it. Then
 * the scope closes, and the order goes on after it. Activities outside of the scope keep their state.
 */
export function undoBlockedScope(builder: TransitionBuilder, scope: string): void {
  const { blocked, activities } = builder.state;
  if (!blocked || !activities[scope]) return;
  forgetLate(builder);
  unblock(builder, blocked.path);
  builder.continuesWhileBlocked = true;
  const { awaitsPerson: _, fault: __, handling: ___, ...activity } = builder.activity(scope) ?? { status: 'Executing' as const };
  builder.put(scope, { ...activity, status: 'Executing' });
  const waiting = Object.keys(activities).filter((path) => path !== scope && isAt(path, scope) && activities[path]?.awaitsPerson);
  const given = new Map(waiting.map((path) => [path, builder.activity(path)]));
  // Cancels and undoes what is inside the scope.
  resumeInside(builder, scope, scope, [scope]);
  runJobs(builder);
  // A handler or an undo in the scope goes on, but without its steps that waited for a person.
  for (const [path, each] of given) if (builder.activity(path) === each) cancel(builder, path);
  continueAll(builder, (local) => isToRepeat(builder, local));
}
