import { definitionPath } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { type Program, relocated } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { dependentsOf } from '#core/recovery/dependents';
import { type Consumers, consumersOf, withoutTime } from '#roles/recovery/consumers';
import { writesIn } from '#roles/recovery/writes-of';
import { auditedRead } from './audited.ts';
import { readJournal } from './history.ts';
import { visibleOrder } from './orders.ts';
import type { Call } from './route.ts';

/** The effects that a recovery undoes and the orders that it concerns, for its dry run. */
export interface RecoveryPlan {
  /** The affected scope, by the paths of its activities. */
  readonly scope: readonly string[];
  /** The steps of other orders that have read what the recovery undoes. */
  readonly consumers: Consumers['items'];
  /** There are more consumers than are listed. */
  readonly more: boolean;
}

/** Returns the affected scope of an activity, with the consumers of the scope's writes that are not undone yet. */
export async function recoveryPlan(call: Call, path = rootPath): Promise<RecoveryPlan | undefined> {
  const { api } = call;
  const found = await visibleOrder(call);
  const defined = found && api.definitions.programOf(found.state);
  if (!found || !defined) return undefined;
  const { orderId } = found.order;
  await auditedRead(call, orderId);
  const { journal, instance } = await readJournal(api.store, found.state);
  const program = instance ? withRuledUndos(defined, instance.state) : defined;
  const scope = scopeOf(defined, path);
  const writes = writesIn(program, orderId, journal, (each) => scope.has(definitionPath(each)));
  const { items, more } = await consumersOf(
    writes.filter(({ undoneAt }) => undoneAt === undefined),
    api.store,
  );
  return { scope: [...scope].map((each) => relocated(each, path)), consumers: items.map(withoutTime), more };
}

const scopeOf = (program: Program, path: string): ReadonlySet<string> => new Set(dependentsOf(program, definitionPath(path)).scope);
