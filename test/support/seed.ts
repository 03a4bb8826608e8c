import fc from 'fast-check';

/**
 * Random tests try the same each time, so that a change lands or doesn't for what it is; `PROPERTY_SEED=random` tries
 * something new, and any number what that number leads to.
 */
const { PROPERTY_SEED: seed = '20261121' } = process.env;
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
