import type { WorkflowDefinition } from '#core/definition/definition';
import { workflowRef } from '#core/definition/workflow-ref';
import type { Store } from '#ports/store';

/**
 * The search reads about this many orders in each process state. The messages are for people who start a system, and need no exact number.
 */
const ordersMax = 1_000;

/** Returns one line for each workflow version that unfinished orders need and that is not part of the app. */
export async function missingVersions(workflows: readonly WorkflowDefinition[], store: Pick<Store, 'list'>): Promise<readonly string[]> {
  const known = new Set(workflows.map(workflowRef));
  const counts = new Map<string, number>();
  for (const state of ['Error', 'Processing', 'Pending'] as const) {
    let after: Parameters<Store['list']>[1];
    let seen = 0;
    do {
      const { items, next } = await store.list({ state }, after, 100);
      for (const { state: head } of items) {
        const ref = workflowRef(head.workflow);
        if (!known.has(ref)) counts.set(ref, (counts.get(ref) ?? 0) + 1);
      }
      seen += items.length;
      after = next;
    } while (after && seen < ordersMax);
  }
  return [...counts].map(
    ([ref, count]) =>
      `${ref} is not part of this app, and ${count === 1 ? 'an order needs' : `${count} orders need`} it. Put that version back into workflows; until then ${count === 1 ? 'the order does' : 'these orders do'} not continue.`,
  );
}
