const leastFailures = 5;
const share = 0.05;

/**
 * Returns the proposed number of failures after which a run over so many orders stops: 5 % of them, and at least 5. A lower number would
 * stop a small run, or a run with a few orders that need another instruction. The API has no default: the form of the console fills it in,
 * and the command line proposes it.
 */
export const usualStopAfter = (orders: number): number => Math.max(leastFailures, Math.ceil(orders * share));
