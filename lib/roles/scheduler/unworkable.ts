import { InvariantError, NewerMessageError, StateTooLargeError, StoreRefusesError, UnreadableRecordError } from '#ports/errors';
import { quarantine } from '#roles/repair/quarantine';
import { callHook } from './host-hooks.ts';
import type { Incoming } from './types.ts';

export interface UnworkablePorts extends QuarantinePorts {
  readonly onServiceException?: ((orderId: string, error: Error) => void) | undefined;
}
type QuarantinePorts = Parameters<typeof quarantine>[3];

/** Whether an error concerns one order alone and needs a person. All other orders continue. */
const isOfThisOrder = (error: unknown): error is UnreadableRecordError | InvariantError | StateTooLargeError | StoreRefusesError =>
  error instanceof UnreadableRecordError ||
  error instanceof InvariantError ||
  error instanceof StateTooLargeError ||
  error instanceof StoreRefusesError;

/**
 * Quarantines an order that cannot be processed. `lost`: another write came first, so the messages must be applied to the record of that
 * write. Rejects with NewerMessageError when a newer app or release can read the order: the messages are kept for it.
 */
export async function quarantineUnworkable(
  orderId: string,
  incoming: readonly Incoming[],
  error: unknown,
  ports: UnworkablePorts,
): Promise<{ readonly outcome: 'written' } | { readonly outcome: 'lost'; readonly alive: 0 }> {
  if (!isOfThisOrder(error)) throw error;
  const newerUntil = error instanceof UnreadableRecordError ? error.newerUntil : undefined;
  const isNewer = (newerUntil ?? 0) > ports.clock.now();
  const isWoken = incoming.every(({ type }) => type === 'wake-up');
  // The supervisor wakes the order again.
  if (isNewer && isWoken) return { outcome: 'written' };
  if (isNewer) throw new NewerMessageError(error.message);
  callHook(ports.telemetry, orderId, () => ports.onServiceException?.(orderId, error));
  const [type, reason] =
    error instanceof UnreadableRecordError
      ? (['RecordUnreadable', error.reason] as const)
      : ([error instanceof StateTooLargeError ? 'StateTooLarge' : 'InvariantViolated', error.message] as const);
  const processState = await quarantine(orderId, type, reason, ports);
  // The version that can continue the order needs this message, too. It is kept until that version is deployed.
  if (newerUntil !== undefined && !isWoken && processState !== 'Processed') throw new NewerMessageError(error.message);
  return processState === 'lost' ? { outcome: 'lost', alive: 0 } : { outcome: 'written' };
}
