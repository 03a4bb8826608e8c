import { afterEach } from '@jest/globals';

const cleanups: (() => unknown)[] = [];

/** The part of node:test's context that shared helpers need: `after` runs a function at the end of the present test. */
export const testContext = {
  after(cleanup: () => unknown): void {
    cleanups.push(cleanup);
  },
};

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
