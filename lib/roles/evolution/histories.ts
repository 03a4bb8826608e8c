import type { Program } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import { isDamage } from '#ports/errors';
import type { StateHead } from '#ports/records';
import type { ListPosition, Store } from '#ports/store';
import { migrated } from '#roles/repair/migrated';
import { loadOrder } from '#roles/scheduler/load';

/** The comparison of one order's history with another version of its workflow. */
export interface CheckedHistory {
  readonly head: Pick<StateHead, 'orderId' | 'workflow' | 'processState' | 'outcome'>;
  readonly fits: boolean;
  /** A sentence about the first thing that does not fit. */
  readonly reason?: string;
  /** The activity that the reason is about. */
  readonly path?: string;
}

export interface CheckedPage {
  readonly items: readonly CheckedHistory[];
  /** Position of the next page; absent at the end. */
  readonly next?: ListPosition;
}

interface Ports {
  readonly store: Pick<Store, 'list' | 'load' | 'pages'>;
  readonly definitions: Definitions;
}

/**
 * Compares a page of stored orders with a version of their workflow, newest first, and changes nothing. Each journal is applied to that
 * version as `migrate` would do it. Orders of the version itself are left out, so a page may hold fewer orders than `limit`, even none.
 */
export async function checkHistories(
  target: Program,
  { after, limit }: { readonly after: ListPosition | undefined; readonly limit: number },
  { store, definitions }: Ports,
): Promise<CheckedPage> {
  const { name, version } = target.definition;
  const { items: found, next } = await store.list({ workflow: name }, after, limit);
  const items: CheckedHistory[] = [];
  for (const { state: head } of found) {
    if (head.workflow.version === version) continue;
    items.push({ head, ...(await fit(head.orderId, target, { store, definitions })) });
  }
  return { items, ...(next ? { next } : {}) };
}

async function fit(orderId: string, target: Program, ports: Ports): Promise<Omit<CheckedHistory, 'head'>> {
  try {
    const loaded = await loadOrder(orderId, ports);
    if (!loaded) return { fits: false, reason: 'The order was forgotten meanwhile.' };
    const result = migrated(loaded, target, await ports.store.pages(orderId));
    if (result.ok) return { fits: true };
    const { ok: fits, ...difference } = result;
    return { fits, ...difference };
  } catch (error) {
    if (isDamage(error)) return { fits: false, reason: 'The state of the order cannot be read.' };
    throw error;
  }
}
