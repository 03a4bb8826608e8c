import { emptyCells, rare, reach } from '../../test/simulation/landing.ts';
import { casesMissing } from '../../test/simulation/minimum.ts';
import { tableOf } from '../../test/simulation/simulate.ts';
import { type Figure, measured } from './figure.ts';
import { playedWorlds } from './worlds.ts';

/** The least number of times for each kind and role. The short form plays too few worlds for the rarest ones, so these need not happen. */
const least = { full: () => 100, short: (name: Parameters<typeof rare.has>[0]) => (rare.has(name) ? 0 : 1) };

/** G6: each kind of fault has really affected each role that it can affect. */
export const figure: Figure = {
  shows: 'every kind of fault has really affected every role that it can affect, again and again',
  async measure(run) {
    const { summary } = await playedWorlds(run);
    const landed = tableOf(
      summary,
      ({ kind }) => kind,
      ({ role }) => role,
    );
    const never = Object.keys(reach).filter((kind) => landed[kind] === undefined);
    const empty = emptyCells(summary, least[run.form]);
    const cells = Object.values(reach).reduce((sum, { roles }) => sum + roles.length, 0);
    return measured([...never.map((kind) => `${kind} has affected no role`), ...empty, ...casesMissing(summary)], {
      kinds: Object.keys(reach).length,
      cells,
      landed,
    });
  },
};
