import { Undone, WakeUp } from '#ports/messages';
import { jsonIn } from '#ports/util/json';
import type { DeadLetter } from '#roles/dead-letters/dead-letter';
import type { History } from '#testing/world/history';

const known = new WeakMap<History, Set<string>>();

/** Returns the ids of undos whose messages are dead letters: `<undo>`, or `<order> <undo>` if the message is for one order. */
function deadOf(history: History): Set<string> {
  const found = known.get(history) ?? new Set<string>();
  known.set(history, found);
  return found;
}

/** Notes the undo that a dead letter is about. */
export function keepDeadUndone({ body }: DeadLetter, history: History): undefined {
  const message = jsonIn(body);
  const { orderId, path, undoneAt } = Undone.safeParse(message).data ?? {};
  if (undoneAt !== undefined) deadOf(history).add(`${orderId}/${path}/${undoneAt}`);
  const wakeUp = WakeUp.safeParse(message).data;
  if (wakeUp?.inconsistency) deadOf(history).add(`${wakeUp.orderId} ${wakeUp.inconsistency.id}`);
}

/** Whether an order may not know of an undo because the message about it is a dead letter, on which a person decides. */
export function isMessageDead(
  reader: string,
  { orderId, path, at }: { readonly orderId: string; readonly path: string; readonly at: number },
  history: History,
): boolean {
  const id = `${orderId}/${path}/${at}`;
  return deadOf(history).has(id) || deadOf(history).has(`${reader} ${id}`);
}
