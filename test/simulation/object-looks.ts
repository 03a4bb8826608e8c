import { isAt } from '#core/engine/undo-pages';
import type { Decision } from '#roles/operator/instruction';
import type { Clients, Reach } from './clients.ts';
import type { Surroundings } from './surroundings.ts';

/** The number of times that an operator looks at an order before a recovery, and the interval. */
const looksMax = 25;
const lookEveryMs = 12_000;

/**
 * Looks until the condition holds, or for the last time, and then goes on. Orders begin late in worlds with long outages: a recovery at a
 * fixed time would come before them.
 */
export function whenReady(
  { timeline }: Surroundings,
  isReady: () => boolean,
  goOn: (looks: number) => void,
  { everyMs = lookEveryMs, max = looksMax } = {},
): void {
  const look = (looks: number): void => {
    if (looks >= max || isReady()) return goOn(looks);
    timeline.after(everyMs, 'an operator looks again', () => look(looks + 1));
  };
  look(1);
}

/** Whether a step inside an activity has used objects, or the order is over. */
export const isDone = ({ journalOf }: Reach, orderId: string, path: string): boolean =>
  journalOf(orderId).some(
    (fact) => (fact.type === 'ObjectsUsed' && isAt(fact.path, path)) || (fact.type === 'ActivityClosed' && fact.path === 'order'),
  );

interface Given {
  readonly orderId: string;
  /** `order`: the whole order. */
  readonly path: string;
  readonly foresees?: boolean;
}

/** An operator recovers an activity. */
export function giveRecovery({ around }: Reach, clients: Clients, { orderId, path, foresees = false }: Given): void {
  const key = clients.nameFor('recovery');
  const decision: Decision = { kind: 'recover', by: 'operator', reason: key, ...(path === 'order' ? {} : { path }) };
  const onAnswer = (answer: string): void => around.carriedOut(`emitted recovery ${answer}`);
  clients.instruct(orderId, decision, key, { foresees, onAnswer });
}
