import { compareEverywhere } from '../../test/same-history/everywhere.ts';
import { scenarios } from '../../test/same-history/scenarios/index.ts';
import { type Figure, measured } from './figure.ts';

const least = 60;

/** G19: one story, played on all implementations of the ports. */
export const figure: Figure = {
  shows: "the same scenario leaves the same history on the simulation's ports, on one machine, and on the protocols of DynamoDB and SQS",
  async measure({ form, cores, progress }) {
    const isPlayed = (place: string, index: number): boolean => {
      if (place === 'dynamodb-local' && process.env['REDRESS_DYNAMODB_LOCAL'] !== '1') return false;
      return form === 'full' || place === 'embedded' || place === 'simulation' || index % 3 === 0;
    };
    const { equal, wrong, ...counts } = await compareEverywhere(isPlayed, { cores, progress });
    for (const each of wrong) progress(each);
    const shortfalls = [
      ...wrong.map((each) => each.split('\n', 1)[0] ?? ''),
      ...(scenarios.length < least ? [`There are ${scenarios.length} scenarios; at least ${least} are required.`] : []),
    ];
    return measured(shortfalls, { equal: `${equal}/${scenarios.length}`, ...counts, notRunOn: ['AWS itself'] });
  },
};
