import type { Json, JsonObject } from '#core/data/json';
import { type Orders, type Proposed, propose, trustedWay } from '#core/evolution/propose';
import { type Resolved, type Way, waysOf } from '#core/evolution/ways';
import type { Definitions } from '#ports/definitions';
import type { Store } from '#ports/store';
import type { TaskRecord } from '#ports/tasks';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { type ExceptionGroup, exceptionGroups } from '#roles/exceptions/groups';
import { readableOrder } from '#roles/scheduler/load';
import { listTasks } from '#roles/tasks/list';

/** Alike exceptions of a workflow, how people have resolved them, and the change of the workflow that this suggests. */
export interface ExceptionCluster {
  readonly group: ExceptionGroup;
  /** The ways of resolving, the one that has helped most often first. */
  readonly ways: readonly Way[];
  readonly proposed: Proposed;
}

interface Ports {
  readonly store: Store;
  readonly definitions: Definitions;
}

/** The largest number of resolutions that are read for one cluster: the newest ones. */
const resolutionsMax = 100;
/** The largest number of failed orders that are compared with as many orders without an exception, to find a condition. */
const comparedMax = 25;
/** The number of pages of finished orders that are searched for orders without an exception, and the size of a page. */
const [pagesMax, pageMax] = [4, 100];

/** Returns a page of a workflow's clusters, those with the most open exceptions first. `more`: whether further clusters follow. */
export async function clustersOf(
  workflow: string,
  { from, limit, now }: { readonly from: number; readonly limit: number; readonly now: number },
  ports: Ports,
): Promise<{ readonly items: readonly ExceptionCluster[]; readonly more: boolean }> {
  const groups = (await exceptionGroups(ports.store, now)).filter((group) => group.workflow === workflow);
  const items = await allSettledOrThrow(groups.slice(from, from + limit).map((group) => clusterOf(group, now, ports)));
  return { items, more: groups.length > from + limit };
}

/** Returns the cluster with a fingerprint; undefined if the workflow has had no such exception within 30 days. */
export async function clusterNamed(
  workflow: string,
  fingerprint: string,
  now: number,
  ports: Ports,
): Promise<ExceptionCluster | undefined> {
  const groups = await exceptionGroups(ports.store, now);
  const group = groups.find((each) => each.workflow === workflow && each.fingerprint === fingerprint);
  return group && clusterOf(group, now, ports);
}

async function clusterOf(group: ExceptionGroup, now: number, ports: Ports): Promise<ExceptionCluster> {
  const filter = { fingerprint: group.fingerprint, state: 'resolved' } as const;
  const { items } = await listTasks(ports.store, filter, { after: undefined, limit: resolutionsMax, now });
  const ways = waysOf(items.flatMap(resolvedBy));
  const program = ports.definitions.newest(group.workflow);
  if (!program) return { group, ways, proposed: { ok: false, why: 'The app does not have this workflow any more.' } };
  const orders = await comparedOrders(group.workflow, trustedWay(ways), ports);
  return { group, ways, proposed: propose(group, ways, { program, catalog: ports.definitions.catalog }, orders) };
}

/**
 * Returns the verified resolution of a task; nothing if its verdict is not known yet or is `void`, or if its kind of instruction never gets
 * one.
 */
function resolvedBy({ orderId, resolution, verified, openedAt }: TaskRecord): readonly Resolved[] {
  const instruction: JsonObject | undefined = resolution?.instruction;
  if (!resolution || !instruction || verified === undefined || verified === 'running' || verified === 'void') return [];
  return [{ orderId, instruction, verified, waitedMs: Math.max(0, resolution.at - openedAt) }];
}

const noOrders: Orders = { failed: [], good: [] };

/** Reads the orders in which a condition is sought. Only the way `skip` needs a condition, under which the step is left out. */
async function comparedOrders(workflow: string, way: Way | undefined, ports: Ports): Promise<Orders> {
  if (way?.instruction.kind !== 'skip') return noOrders;
  const failed = [...new Set(way.uses.map(({ orderId }) => orderId))].slice(0, comparedMax);
  const good = await goodOrders(workflow, ports);
  const bodies = async (ids: readonly string[]): Promise<readonly Json[]> =>
    (await allSettledOrThrow(ids.map((id) => readableOrder(id, ports)))).flatMap((loaded) => (loaded ? [loaded.order.body] : []));
  return { failed: await bodies(failed), good: await bodies(good) };
}

/** Finds orders that completed without an exception, the newest first. */
async function goodOrders(workflow: string, { store }: Ports): Promise<readonly string[]> {
  const found: string[] = [];
  let after: Parameters<Store['list']>[1];
  for (let page = 0; page < pagesMax && found.length < comparedMax; page++) {
    const { items, next } = await store.list({ workflow, state: 'Processed' }, after, pageMax);
    found.push(...items.flatMap(({ state }) => (state.outcome === 'completed' && !state.causes ? [state.orderId] : [])));
    after = next;
    if (!after) break;
  }
  return found.slice(0, comparedMax);
}
