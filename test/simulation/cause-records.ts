import { noFigures, type SolutionFigures } from '#core/solutions/rank';
import type { Solution } from '#core/solutions/solution';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { TaskRecord, TaskVerdict } from '#ports/tasks';
import { exceptionGroups } from '#roles/exceptions/groups';
import { exceptionIn, exceptionKey, isEarlyClosing, taskIn, taskKey } from '#roles/exceptions/records';
import { figuresOf } from '#roles/solutions/figures';
import { usedSolution } from '#testing/world/clients';
import type { History, Tracked } from '#testing/world/history';

/**
 * Returns the violations in the records of causes when nothing is left in any outbox: each cause has one record, which is closed for good
 * exactly if its order says so (S28), and the figures of the groups and of the solution that people use add up (S31, S32).
 */
export async function wrongInCauses(store: Store, history: History, now: number, isWhole: boolean): Promise<readonly string[]> {
  const wrong: string[] = [];
  const counted = { total: 0, open: 0 };
  const uses: SolutionFigures[] = [];
  for (const order of history.orders.values()) {
    const { found, exceptions, tasks } = await wrongInOrder(store, order);
    uses.push(...tasks.flatMap(usesIn));
    wrong.push(...found);
    counted.total += exceptions.total;
    counted.open += exceptions.open;
  }
  // The figures still count orders that were forgotten, or that a restore took back. So they add up only in other worlds.
  if (wrong.length > 0 || !isWhole) return wrong;
  const groups = await exceptionGroups(store, now);
  const sums = { total: 0, open: 0 };
  for (const { count, open } of groups) {
    sums.total += count;
    sums.open += open;
  }
  return [
    ...(sums.total === counted.total && sums.open === counted.open
      ? []
      : [`groups: they count ${sums.total} exceptions, ${sums.open} open, but there are ${counted.total}, ${counted.open} open`]),
    ...(await wrongInSolution(store, uses)),
  ];
}

/** Returns how the figures of the solution differ from the uses that the tasks tell. */
async function wrongInSolution(store: Store, uses: readonly SolutionFigures[]): Promise<readonly string[]> {
  const figures = (await figuresOf(store))({ id: usedSolution.id, instructionSince: usedSolution.version } as Solution);
  return (['used', 'passed', 'failedAgain', 'failedOtherwise'] as const).flatMap((name) => {
    const told = uses.reduce((sum, each) => sum + each[name], 0);
    return figures[name] === told ? [] : [`solutions: they count ${figures[name]} ${name}, but the tasks tell ${told}`];
  });
}

/** Returns the use of a solution that has resolved a task, if instructions of its kind are verified. */
function usesIn({ resolution, verified }: TaskRecord): readonly SolutionFigures[] {
  if (!resolution?.solution || verified === undefined) return [];
  const of = (verdict: TaskVerdict): number => Number(verified === verdict);
  return [{ ...noFigures, used: 1, passed: of('passed'), failedAgain: of('failed-again'), failedOtherwise: of('failed-otherwise') }];
}

interface Found {
  readonly found: readonly string[];
  readonly exceptions: { readonly total: number; readonly open: number };
  readonly tasks: readonly TaskRecord[];
}

async function wrongInOrder(store: Store, { state, damagedAt }: Tracked): Promise<Found> {
  const found: string[] = [];
  const exceptions = { total: 0, open: 0 };
  const tasks: TaskRecord[] = [];
  const openNow = new Set((state.open ?? []).map(({ seq }) => seq));
  for (let seq = 1; seq <= causesOf(state); seq++) {
    const [exception, task] = await Promise.all([read(store, exceptionKey(state.orderId, seq)), read(store, taskKey(state.orderId, seq))]);
    const name = `cause ${seq} of ${state.orderId}`;
    if (exception) {
      exceptions.total++;
      const isOpen = exceptionIn(exception).handling === null;
      if (isOpen) exceptions.open++;
      if (isOpen !== openNow.has(seq))
        found.push(`causes: the exception of ${name} is ${isOpen ? 'open' : 'handled'}, and its order says otherwise`);
    }
    if (task) tasks.push(taskIn(task));
    if (task && (taskIn(task).resolution === undefined) !== openNow.has(seq))
      found.push(`causes: the task of ${name} is ${taskIn(task).state}, and its order says otherwise`);
    if (!exception && !task && damagedAt === undefined) found.push(`causes: ${name} has no record`);
  }
  return { found, exceptions, tasks };
}

async function read(store: Store, { collection, id }: ReturnType<typeof taskKey>) {
  const document = await store.document(collection, id);
  return document && !isEarlyClosing(document) ? document : undefined;
}

const causesOf = ({ causes = 0 }: Pick<StateRecord, 'causes'>): number => causes;
