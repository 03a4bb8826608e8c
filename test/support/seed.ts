import fc from 'fast-check';

/**
 * The seed of random tests: constant, so that a failure belongs to the change. `PROPERTY_SEED=random` tries new cases,
 * and a number repeats those of that seed.
 */
const { PROPERTY_SEED: seed = '20261121' } = process.env;
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
