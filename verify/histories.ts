import { simulate } from '../test/simulation/simulate.ts';
import { type Figure, measured } from './figure.ts';

/** G1: whole worlds with everything that goes wrong in them. */
export const figure: Figure = {
  shows: 'simulated histories in which everything goes wrong, and no law is broken',
  async measure({ form, seed }) {
    const { broken, ...summary } = await simulate(seed, form === 'full' ? 3000 : 200);
    return measured(
      broken.map(({ wrong, again }) => `${wrong.join('; ')} (again: ${again})`),
      summary,
    );
  },
};
