/** Replaces `node:test` while mutants are tried: it collects the tests, so that one process can run them repeatedly. */
export const tests = [];
let file = '';
let around = [];

/** Loads a file and records its tests as `file: describe > test`. */
export const collectFrom = async (name, url) => {
  file = name;
  await import(url);
};

export const test = (title, run) => tests.push({ file, id: `${file}: ${[...around, title].join(' > ')}`, run });
export const it = test;
export const describe = (title, body) => {
  around = [...around, title];
  body();
  around = around.slice(0, -1);
};
export default test;

/** Runs a test; resolves with the error that it failed with. */
export const errorOf = async ({ run }) => {
  const cleanUps = [];
  try {
    await run({ after: (cleanUp) => cleanUps.push(cleanUp) });
    return undefined;
  } catch (error) {
    return error ?? new Error('Something empty was thrown.');
  } finally {
    for (const cleanUp of cleanUps) cleanUp();
  }
};
