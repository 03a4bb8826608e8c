import type { Check } from '#core/instructions/check';
import type { StateRecord } from '#ports/records';

/** List prices of us-east-1 in dollars. */
const prices = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  queueCall: 0.4e-6,
  invocation: 0.2e-6,
  gigabyteSecond: 16.6667e-6,
};

/** Upper bound of what one request costs beside its state: sending, receiving and deleting its message and its answer, and the wake-ups. */
const perRequest = { writes: 2, reads: 2, queueCalls: 10, invocations: 3, gigabytes: 1 };

/**
 * Returns an upper bound of the requests and of their price. Each request may be repeated until the order's failure limit, and each attempt
 * may take the whole step timeout.
 */
export function estimateOf(
  requests: number,
  { maxFailures, stepMs, blob }: Pick<StateRecord, 'maxFailures' | 'stepMs' | 'blob'>,
): Check['estimate'] {
  const attempts = maxFailures + 1;
  const most = requests * attempts;
  const kilobytes = Math.ceil(blob.length / 1024) + 2;
  const each =
    perRequest.writes * kilobytes * prices.writeUnit +
    perRequest.reads * kilobytes * prices.readUnit +
    perRequest.queueCalls * prices.queueCall +
    perRequest.invocations * prices.invocation +
    perRequest.gigabytes * (stepMs / 1000) * prices.gigabyteSecond;
  return { requests: most, attempts, dollars: Math.ceil(most * each * 1e6) / 1e6 };
}
