import fc from 'fast-check?real';

/** Few runs, always the same ones, and no search for the smallest example: a run over four thousand mutants needs quick refusals. */
export default {
  ...fc,
  assert: (property, parameters = {}) =>
    fc.assert(property, { ...parameters, numRuns: Math.min(parameters.numRuns ?? 100, globalThis.runsMax), seed: 1, endOnFailure: true }),
};
