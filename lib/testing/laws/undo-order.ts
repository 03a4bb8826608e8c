import type { Law } from './law.ts';

/** Each undo reverses the newest effect that is not undone yet (S11, F-101). */
export const undoOrder = (): Law => ({
  name: 'undo order',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, journal }) => {
      const done: string[] = [];
      const wrong: string[] = [];
      const canBeUndone = new Set(
        journal.flatMap((fact) =>
          fact.type === 'StepRequested' && fact.path.endsWith('/undo') ? [fact.path.slice(0, -'/undo'.length)] : [],
        ),
      );
      /** Open activities. A step with the effect of an earlier run and another input is undone before its next request. */
      const begun = new Set<string>();
      for (const fact of journal) {
        if (fact.type === 'ActivityStarted') begun.add(fact.path);
        if (fact.type !== 'ActivityClosed') continue;
        begun.delete(fact.path);
        // A later run of a retry passes a step that is already done, and the step keeps its place.
        if (fact.result === 'Succeeded' && canBeUndone.has(fact.path) && !done.includes(fact.path)) done.push(fact.path);
        const path = fact.result === 'Compensated' ? fact.path.replace(/\/undo$/, '') : undefined;
        if (path === undefined || !done.includes(path)) continue;
        if (done.at(-1) !== path && !begun.has(path))
          wrong.push(`order ${orderId}: ${path} was undone before ${done.at(-1)}, which was done later`);
        done.splice(done.lastIndexOf(path), 1);
      }
      return wrong;
    }),
});
