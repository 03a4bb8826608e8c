const leastFailures = 5;
const share = 0.05;

/**
 * Returns after how many failures a run over so many orders usually stops: 5 % of them, and at least 5. Fewer would stop a small run, or one
 * with a few orders that need something else. The API has no default: the form of the console fills it in, and the command line proposes it.
 */
export const usualStopAfter = (orders: number): number => Math.max(leastFailures, Math.ceil(orders * share));
