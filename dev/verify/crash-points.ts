import { behaviors } from '#core/activities/index';
import { positions } from '#testing/crash-test/points';
import { addCrashed, type Crashed, nothing, type Piece } from '../../test/crash-points/crash.ts';
import { definitions, smallest } from '../../test/crash-points/definitions.ts';
import { sitesOfPorts, unreached } from '../../test/crash-points/ports.ts';
import { type Figure, measured } from './figure.ts';
import { spread } from './spread.ts';

/**
 * `single`: every nth crash point of a definition is tried. `double`: the same for runs with a second crash. `pieces`: the number of
 * jobs for one definition. `runs`: the least number of runs in all.
 */
const sizes = {
  full: { single: 1, double: 1, pieces: { single: 3, double: 24 }, runs: 20_000 },
  short: { single: 12, double: 80, pieces: { single: 1, double: 1 }, runs: 800 },
} as const;

/** G5: a process crashes at each of its calls. In further runs of the smallest definitions, a second process crashes, too. */
export const figure: Figure = {
  shows: 'a process crashes at every call of a port or a service, at three positions, and no law is broken',
  async measure({ form, cores, progress }) {
    const sum = nothing();
    let done = 0;
    const jobs = [...piecesOf(form)];
    await spread<Piece & { readonly [field: string]: string | number | boolean }, Crashed>({
      module: new URL('./crashes.ts', import.meta.url),
      jobs,
      cores,
      onResult(crashed) {
        addCrashed(sum, crashed);
        done += 1;
        if (done % 20 === 0) progress(`${done} of ${jobs.length} pieces, ${sum.runs} runs, ${sum.broken.length} broken`);
      },
    });
    return measured([...sum.broken.slice(0, 10), ...(await missed(sum, form))], await countsOf(sum));
  },
};

function* piecesOf(form: keyof typeof sizes): Generator<Piece & { readonly [field: string]: string | number | boolean }> {
  const { single, double, pieces } = sizes[form];
  for (const writesAndSendsAtomically of [false, true]) {
    for (const name of smallest)
      for (let first = 0; first < pieces.double; first++)
        yield { name, writesAndSendsAtomically, twice: true, first, every: double * pieces.double };
    for (const name of Object.keys(definitions))
      for (let first = 0; first < pieces.single; first++)
        yield { name, writesAndSendsAtomically, twice: false, first, every: single * pieces.single };
  }
}

async function missed(sum: Crashed, form: keyof typeof sizes): Promise<readonly string[]> {
  const kinds = activitiesIn(definitions);
  return [
    ...(sum.runs < sizes[form].runs ? [`${sum.runs} runs instead of ${sizes[form].runs}`] : []),
    ...(Object.keys(definitions).length < 12 ? ['fewer than 12 definitions'] : []),
    ...Object.keys(behaviors)
      .filter((activity) => !kinds.has(activity))
      .map((activity) => `no definition has a ${activity}`),
    ...(await unreached(new Set(sum.reached))),
    ...(form === 'full' ? await neverCrashedAt(sum) : []),
  ];
}

/** Returns the sites that are reached but at which no process has crashed at some position. */
async function neverCrashedAt({ reached, crashed }: Crashed): Promise<readonly string[]> {
  const all = reached.flatMap((site) => positions.map((position) => `${site} ${position}`));
  return all.filter((place) => !crashed[place]).map((place) => `no process has crashed ${place}`);
}

const activitiesIn = (all: typeof definitions): ReadonlySet<string> =>
  new Set(
    Object.values(all).flatMap(({ scenario }) =>
      [...JSON.stringify(scenario.app.workflows).matchAll(/"activity":"(\w+)"/g)].map(([, activity = '']) => activity),
    ),
  );

async function countsOf({ runs, outcomes, crashed, reached, broken }: Crashed) {
  const ports = await sitesOfPorts();
  return {
    definitions: Object.keys(definitions).length,
    sites: reached.length,
    sitesOfPorts: reached.filter((site) => ports.includes(site)).length,
    positions: Object.keys(crashed).length,
    runs,
    crashes: Object.values(crashed).reduce((sum, times) => sum + times, 0),
    broken: broken.length,
    outcomes,
  };
}
