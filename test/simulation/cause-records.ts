import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { exceptionGroups } from '#roles/exceptions/groups';
import { exceptionIn, exceptionKey, isTombstone, taskIn, taskKey } from '#roles/exceptions/records';
import type { History, Tracked } from '#testing/world/history';

/**
 * Returns the violations in the records of causes when nothing is left in any outbox: each cause has one record, which is closed for good
 * exactly if its order says so (S28), and the figures of the groups add up (S31).
 */
export async function wrongInCauses(store: Store, history: History, now: number, isWhole: boolean): Promise<readonly string[]> {
  const wrong: string[] = [];
  const counted = { total: 0, open: 0 };
  for (const order of history.orders.values()) {
    const { found, exceptions } = await wrongInOrder(store, order);
    wrong.push(...found);
    counted.total += exceptions.total;
    counted.open += exceptions.open;
  }
  // Orders that were forgotten, or that a restore took back, stay in the figures.
  if (wrong.length > 0 || !isWhole) return wrong;
  const groups = await exceptionGroups(store, now);
  const sums = { total: 0, open: 0 };
  for (const { count, open } of groups) {
    sums.total += count;
    sums.open += open;
  }
  return sums.total === counted.total && sums.open === counted.open
    ? []
    : [`groups: they count ${sums.total} exceptions, ${sums.open} open, but there are ${counted.total}, ${counted.open} open`];
}

interface Found {
  readonly found: readonly string[];
  readonly exceptions: { readonly total: number; readonly open: number };
}

async function wrongInOrder(store: Store, { state, damagedAt }: Tracked): Promise<Found> {
  const found: string[] = [];
  const exceptions = { total: 0, open: 0 };
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
    if (task && (taskIn(task).resolution === undefined) !== openNow.has(seq))
      found.push(`causes: the task of ${name} is ${taskIn(task).state}, and its order says otherwise`);
    if (!exception && !task && damagedAt === undefined) found.push(`causes: ${name} has no record`);
  }
  return { found, exceptions };
}

async function read(store: Store, { collection, id }: ReturnType<typeof taskKey>) {
  const document = await store.document(collection, id);
  return document && !isTombstone(document) ? document : undefined;
}

const causesOf = ({ causes = 0 }: Pick<StateRecord, 'causes'>): number => causes;
