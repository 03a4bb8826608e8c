import { isFatal } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';

/**
 * Calls a function of the host, and logs its error. A function that fails must not keep the scheduler from sending messages or quarantining
 * an order.
 */
export function callHook(telemetry: Pick<Telemetry, 'log'>, orderId: string, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (isFatal(error)) throw error;
    telemetry.log('error', 'host hook failed', { orderId, error });
  }
}
