import { parseArgs } from 'node:util';
import { commit } from '../../commit.ts';
import { type Clean, cleanWorlds } from './clean.ts';
import { catchers, interval, percent, score, scoreOfHarmful, survivors, type Tried, table, writePage } from './page.ts';
import { type Mutant, makePlan, shuffled } from './plan.ts';
import { Player } from './player.ts';
import { Results } from './results.ts';
import { type Limits, tryMutant } from './trial.ts';

const help =
  'npm run mutants -- --simulation [FILES] [--sample N --seed S] [--worlds N] [--unseen N] [--cores N] [--keep-caught] [--page]\n';
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const options = {
  simulation: { type: 'boolean' },
  sample: { type: 'string' },
  seed: { type: 'string', default: '1' },
  /** The number of worlds, and the maximum number in which one change is tried. */
  worlds: { type: 'string', default: '120' },
  /** The number of worlds without a visible difference after which a change counts as survived. */
  unseen: { type: 'string', default: '40' },
  cores: { type: 'string', default: '1' },
  /** Keeps mutants that were caught before the code changed as caught, so that after a new law only the survivors are tried again. */
  'keep-caught': { type: 'boolean', default: false },
  page: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/**
 * Counts the changes of stores, channels and roles that the simulation notices without any other test. An interrupted run continues where
 * it stopped.
 */
export async function mutateUnderSimulation(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return void process.stdout.write(help);
  const number = (name: 'sample' | 'seed' | 'worlds' | 'unseen' | 'cores') => Number(values[name]);
  const plan = await makePlan();
  const inFiles = plan.mutants.filter(({ file }) => positionals.length === 0 || positionals.includes(file));
  const wanted = shuffled(inFiles, number('seed')).slice(0, values.sample === undefined ? undefined : number('sample'));
  if (wanted.length === 0)
    throw new Error(`There is nothing to change in ${positionals.join(', ')}. Name files in lib/roles, lib/adapters/sqlite or functions.`);
  say(`${wanted.length} of ${plan.mutants.length} changes`);
  const clean = await cleanWorlds(plan, number('worlds'), say);
  const limits = { worldsMax: number('worlds'), unseenMax: number('unseen') };
  const results = new Results(plan.code, limits);
  const keepCaught = values['keep-caught'];
  const left = wanted.filter(({ key }) => !results.of(key, { keepCaught }));
  say(`${wanted.length - left.length} are known from before`);
  await tryAll(left, clean, results, limits, number('cores'));
  const tried = wanted.flatMap((mutant): Tried[] => {
    const result = results.of(mutant.key, { keepCaught });
    return result ? [{ mutant, result }] : [];
  });
  const text = summary(tried, clean.worlds.length, limits.unseenMax) + (tried.length < inFiles.length ? boundsOf(tried) : '');
  process.stdout.write(`${survivors(tried)}\n\n${table(tried)}\n\n${text}\n`);
  if (values.page) writePage([text, table(tried), survivors(tried)].join('\n\n'));
}

async function tryAll(left: readonly Mutant[], clean: Clean, results: Results, limits: Limits, cores: number): Promise<void> {
  const players = Array.from({ length: cores }, () => new Player());
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    say('stopping: the result until now follows');
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const begun = performance.now();
  const lastCatch = new Map<string, number>();
  let next = 0;
  const work = async (player: Player) => {
    for (let mutant = left[next++]; mutant && !isStopped; mutant = left[next++]) {
      const result = await tryMutant(player, mutant, clean, limits, lastCatch.get(mutant.file));
      // The signal that stops this run may also have stopped the worker.
      if (isStopped && result.status === 'lost') return;
      if (result.seed !== undefined) lastCatch.set(mutant.file, result.seed);
      results.add(result);
      if (next % 50 === 0) say(`${next} of ${left.length} after ${Math.round((performance.now() - begun) / 1000)} s`);
    }
  };
  await Promise.all(players.map(work));
  for (const player of players) player.stop();
  process.off('SIGINT', stop).off('SIGTERM', stop);
}

function summary(tried: readonly Tried[], worlds: number, unseenMax: number): string {
  const all = score(tried);
  const harmful = scoreOfHarmful(tried);
  const notReached = tried.filter(({ result }) => result.status === 'not reached').length;
  const unseen = tried.filter(({ result }) => result.status === 'survived' && result.changed === 0).length;
  return (
    `Commit ${commit()}, ${worlds} worlds (seeds 1 to ${worlds}), at most ${unseenMax} without a visible difference: ${tried.length} changes, ${notReached} of them in code that no ` +
    `world reaches. The simulation catches ${all.caught} of the other ${all.of} (${percent(all.caught / all.of)}); ` +
    `${all.of - all.caught} survive, ${unseen} of them without a visible difference in any world. Without the ${all.of - harmful.of} harmless ones it catches ${percent(harmful.caught / harmful.of)}. Laws that caught changes: ${catchers(tried)}.`
  );
}

function boundsOf(tried: readonly Tried[]): string {
  const [least, most] = interval(score(tried));
  const [leastHarmful, mostHarmful] = interval(scoreOfHarmful(tried));
  return ` The sample is random: the simulation catches between ${percent(least)} and ${percent(most)} of all changes (95 % confidence), and between ${percent(leastHarmful)} and ${percent(mostHarmful)} of those that are not harmless.`;
}
