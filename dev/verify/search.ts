import { broken } from '../../test/search/broken.ts';
import { type Scenario, searched } from '../../test/search/scenarios.ts';
import type { Found } from '../../test/search/search.ts';
import { searchIn } from '../../test/search/worker.ts';
import { type Figure, measured, type Run } from './figure.ts';

interface NamedScenario {
  readonly name: string;
  readonly scenario: Scenario;
}

const one = { schedulers: 1, supervisors: 1, copies: 1 } as const;

/** The scenarios of the full form. In the first one there are two schedulers and two supervisors, and each message comes twice. */
const full: readonly NamedScenario[] = [
  { name: 'every message twice, a crash anywhere', scenario: searched({ crashes: 1 }) },
  { name: 'time runs out, the order is reset', scenario: searched({ workflow: 'by-order', copies: 1, hurries: 1 }) },
  { name: 'time runs out, the step is requested again', scenario: searched({ copies: 1, hurries: 1 }) },
  { name: 'the second step is refused, every message twice', scenario: searched({ refuses: true, schedulers: 1 }) },
  {
    name: 'the second step is refused, a crash, an answer lost',
    scenario: searched({ refuses: true, copies: 1, crashes: 1, lostAnswers: 1 }),
  },
  { name: 'the client cancels, a crash', scenario: searched({ cancels: true, copies: 1, crashes: 1 }) },
];

const short: readonly NamedScenario[] = [
  { name: 'a crash anywhere', scenario: searched({ copies: 1, crashes: 1 }) },
  { name: 'every message twice', scenario: searched({ ...one, copies: 2 }) },
  { name: 'the second step is refused', scenario: searched({ copies: 1, refuses: true }) },
  { name: 'the client cancels', scenario: searched({ ...one, cancels: true, crashes: 1 }) },
  { name: 'time runs out, the order is reset', scenario: searched({ ...one, workflow: 'by-order', hurries: 1 }) },
];

const least = { full: 1_000_000, short: 30_000 } as const;

/** G7: all possible sequences of events, not a sample. */
export const figure: Figure = {
  shows:
    'every state that one order can reach, with two of each role, repeated messages and crashes: no law is broken, and the order can end from each',
  async measure(run) {
    const scenarios = run.form === 'full' ? full : short;
    const searches = await searchEach(scenarios, run, ({ scenario }, progress) => searchIn({ scenario }, progress));
    const mutants = run.form === 'full' ? broken : broken.slice(0, 6);
    const found = await searchEach(
      mutants.map((mutant) => ({ name: mutant.what, ...mutant })),
      run,
      (mutant, progress) => searchIn({ scenario: mutant.scenario, broken: mutant }, progress),
    );
    const largest = Math.max(...searches.map(({ states }) => states));
    const missing = [
      ...searches.flatMap((each) => missed(each)),
      ...(largest >= least[run.form] ? [] : [`the largest search has ${largest} states, and not ${least[run.form]}`]),
      ...found.flatMap(({ name, wrong }) => (wrong ? [] : [`the search found no broken law although ${name}`])),
    ];
    return measured(missing, {
      states: searches.reduce((sum, { states }) => sum + states, 0),
      largest,
      searches: searches.map(({ wrong: _, ...counts }) => counts),
      broken: found.map(({ name, states, wrong }) => ({ what: name, states, story: wrong?.story.length, found: wrong?.what })),
    });
  },
};

/** Searches each item, as many in parallel as there are cores. The results are in the order of the items. */
async function searchEach<T extends { readonly name: string }>(
  items: readonly T[],
  { cores, progress }: Run,
  search: (item: T, progress: (line: string) => void) => Promise<Found>,
): Promise<readonly (Found & { readonly name: string })[]> {
  const results: (Found & { readonly name: string })[] = [];
  const left = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, item] = next;
      results[index] = { name: item.name, ...(await search(item, (line) => progress(`${item.name}: ${line}`))) };
      progress(`${item.name}: ${results[index].states} states`);
    }
  };
  await Promise.all(Array.from({ length: cores }, work));
  return results;
}

const missed = ({ name, complete, wrong }: Found & { readonly name: string }): readonly string[] => [
  ...(wrong ? [`${name}: ${wrong.what}\n${wrong.story.join('\n')}`] : []),
  ...(complete || wrong ? [] : [`${name}: the search did not come to its end`]),
];
