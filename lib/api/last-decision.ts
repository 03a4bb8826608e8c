import { timeText } from '#ports/messages';
import type { Store } from '#ports/store';
import { type JournalEntry, readableInstance } from '#roles/scheduler/instance';
import type { Refusal } from './problem.ts';

/**
 * Adds the last decision about an order, and the person who made it, to the refusal of a decision that came too late. Without a known
 * decision, the refusal stays as it is. Only the newest journal lines are read: a decision that has just won the race is among them.
 */
export async function withLastDecision(refusal: Refusal, orderId: string, store: Pick<Store, 'load'>): Promise<Refusal> {
  const found = await store.load(orderId).catch(() => undefined);
  const decided = (found && readableInstance(found.state)?.tail)?.map(decisionOf).findLast((each) => each !== undefined);
  if (!decided) return refusal;
  const { what, by, at } = decided;
  const detail = `${by} has decided last about this order: ${what} at ${timeText(at)}.`;
  return { ...refusal, errors: [...(refusal.errors ?? []), { pointer: '', code: 'last-decision', detail }] };
}

/** Returns the decision of a person that a journal line records. */
function decisionOf(line: JournalEntry): { readonly what: string; readonly by: string; readonly at: number } | undefined {
  const { at } = line;
  switch (line.type) {
    case 'InstructionGiven':
      return { what: line.kind, by: line.by, at };
    case 'OrderLocked':
      return { what: 'lock', by: line.by, at };
    case 'OrderUnlocked':
      return line.expired ? undefined : { what: 'unlock', by: line.by, at };
    case 'InstanceRebuilt':
      return line.by === undefined ? undefined : { what: 'rebuild', by: line.by, at };
    default:
      return undefined;
  }
}
