import type { Law } from './law.ts';

/** S11, F-101: what is undone is always the newest of what is known to have been done. */
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
      /** What has begun and not closed: done by an earlier run with another input, it is undone before it is requested anew. */
      const begun = new Set<string>();
      for (const fact of journal) {
        if (fact.type === 'ActivityStarted') begun.add(fact.path);
        if (fact.type !== 'ActivityClosed') continue;
        begun.delete(fact.path);
        // A later run of a retry passes a step that is done already: the step keeps its place.
        if (fact.result === 'Succeeded' && canBeUndone.has(fact.path) && !done.includes(fact.path)) done.push(fact.path);
        const path = fact.result === 'Compensated' ? fact.path.replace(/\/undo$/, '') : undefined;
        if (path === undefined || !done.includes(path)) continue;
        if (done.at(-1) !== path && !begun.has(path)) wrong.push(`${orderId} undoes ${path} before ${done.at(-1)}, which was done later`);
        done.splice(done.lastIndexOf(path), 1);
      }
      return wrong;
    }),
});
