import { isJudged } from '#core/exceptions/verdict';
import type { Store } from '#ports/store';
import { itemsOf } from '#roles/bulk/items';
import { type BulkRun, figuresOf } from '#roles/bulk/run';

/** Returns how the figures of bulk runs differ from their items when no run needs a process any more (S36). */
export async function wrongInBulkRuns(runs: readonly BulkRun[], store: Store): Promise<readonly string[]> {
  const wrong = await Promise.all(runs.map((run) => wrongInRun(run, store)));
  return wrong.flat();
}

async function wrongInRun(run: BulkRun, store: Store): Promise<readonly string[]> {
  const { items } = await itemsOf(run, undefined, { from: 0, limit: run.set?.count ?? 0 }, store);
  const { count, infeasible, applied, refused, movedOn, failed, left, verified } = figuresOf(run);
  const figures = { count, infeasible, applied, refused, 'moved-on': movedOn, failed, left };
  const of = (name: string): number => items.filter(({ outcome }) => outcome === name).length;
  const verdicts = { passed: verified.passed, 'failed-again': verified.failedAgain, 'failed-otherwise': verified.failedOtherwise };
  const judged = (name: string): number => items.filter((item) => item.verified === name).length;
  const isChecked = run.set !== null && run.checked === run.set.count;
  return [
    ...Object.entries(figures).flatMap(([name, figure]) => {
      // A run that was stopped during its preparation has checked only a part of its set. The unchecked items do not count as left.
      const counted = name === 'count' ? items.length : of(name) - (name === 'left' && !isChecked ? items.length - run.checked : 0);
      return figure === counted ? [] : [`bulk figures: ${run.id} counts ${figure} ${name}, but its items are ${counted}`];
    }),
    ...Object.entries(verdicts).flatMap(([name, figure]) =>
      figure === judged(name) ? [] : [`bulk figures: ${run.id} counts ${figure} ${name}, but its items are ${judged(name)}`],
    ),
    ...(isJudged(run.kind) && verified.running !== judged('running')
      ? [`bulk figures: ${run.id} counts ${verified.running} running, but its items are ${judged('running')}`]
      : []),
    ...(run.state === 'done' && left > 0 ? [`bulk figures: ${run.id} is done, and ${left} orders are left`] : []),
  ];
}
