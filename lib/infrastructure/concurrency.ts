import { Annotations, Token } from 'aws-cdk-lib';
import { SetupError } from '#ports/errors';
import type { FunctionSpec } from '#runtime/topology';
import type { OrderProcessing } from './order-processing.ts';

/** The concurrent executions that an account has by default. A new account may have ten. */
export const accountConcurrencyDefault = 1000;
/** The least concurrency that Lambda accepts for one queue. */
export const concurrencyMin = 2;
const concurrencyMax = 50;
/** Lambda refuses reservations that leave fewer executions than this to the functions without a reservation. */
const unreservedMin = 100;

/**
 * Returns the default concurrency of each queue of a function. All queues together use at most half of the account, unless Lambda's
 * minimum for each queue is more. So a backlog leaves the other half to the API and the supervisor. Dead-letter queues are rarely used, so
 * each gets the minimum.
 */
export function maxConcurrencyFor(
  { file }: FunctionSpec,
  all: readonly FunctionSpec[],
  accountConcurrency = accountConcurrencyDefault,
): number {
  if (file === 'dead-letter') return concurrencyMin;
  const queues = all.flatMap((spec) => (spec.file === 'dead-letter' ? [] : spec.sources));
  return Math.min(Math.max(Math.floor(accountConcurrency / 2 / queues.length), concurrencyMin), concurrencyMax);
}

/** The id of the warning: `Annotations.of(orders).acknowledgeWarning('redress:concurrency')` silences it. */
const warning = 'redress:concurrency';

/**
 * Compares the executions that the functions may use with those of the account. Warns if the queues alone could use all, as in a small
 * account, because Lambda allows no fewer than two for each queue.
 *
 * @throws SetupError for reservations that Lambda would refuse, and for an invalid `accountConcurrency`.
 */
export function checkConcurrency(system: OrderProcessing, accountConcurrency: number): void {
  if (Token.isUnresolved(accountConcurrency)) return;
  if (!Number.isInteger(accountConcurrency) || accountConcurrency < 10)
    throw new SetupError(
      `Invalid accountConcurrency ${accountConcurrency}: expected a whole number of at least 10.`,
      'Set it to the quota "Concurrent executions" of Lambda in this account and region.',
    );
  const all = [...system.functions.values()];
  const reserved = all.reduce((sum, { reservedConcurrency = 0 }) => sum + reservedConcurrency, 0);
  if (reserved > 0 && accountConcurrency - reserved < unreservedMin)
    throw new SetupError(
      `The functions reserve ${reserved} of ${accountConcurrency} instances, but Lambda requires that ${unreservedMin} stay unreserved.`,
      `Reserve at most ${Math.max(0, accountConcurrency - unreservedMin)}, or raise the quota and accountConcurrency.`,
    );
  const used = all.reduce((sum, { mappings, maxConcurrency }) => sum + mappings.length * maxConcurrency, 0);
  if (used >= accountConcurrency)
    Annotations.of(system).addWarningV2(
      warning,
      `The queues may use ${used} instances, and the account has ${accountConcurrency}. A backlog then stops the API and the supervisor, and messages may become dead letters. Raise the quota "Concurrent executions" of Lambda to ${2 * used} or more, and set accountConcurrency.`,
    );
}
