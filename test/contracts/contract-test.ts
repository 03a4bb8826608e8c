import test from 'node:test';

/** Makes the tests of a contract for one implementation: each test opens it afresh and always closes it. */
export const contractTest =
  <T extends { close(): Promise<void> }>(name: string, open: () => T | Promise<T>) =>
  (title: string, body: (opened: T) => Promise<void>) =>
    test(`${name}: ${title}`, async () => {
      const opened = await open();
      try {
        await body(opened);
      } finally {
        await opened.close();
      }
    });
