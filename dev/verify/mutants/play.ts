import { applyMutant } from './hook.ts';
import { classic, further } from './index.ts';

/**
 * A process of its own for one mutant: `play.ts NAME FIRST RUNS` plays one world for each seed, up to the first in which a
 * law is broken, and prints what came of it.
 */
export interface Played {
  /** What was broken, in words; absent where nothing was. */
  readonly wrong?: string;
  /** Worlds up to there, that one included. */
  readonly worlds: number;
  /** Time on a processor, the start included. */
  readonly cpuMs: number;
  /** Whether the file with the mistake was loaded at all. */
  readonly loaded: boolean;
}

const [name = '', first = '1', runs = '1'] = process.argv.slice(2);
const mutant = [...classic, ...further].find((each) => each.name === name);
if (!mutant) throw new Error(`There is no mutant "${name}".`);
const isLoaded = applyMutant(mutant);
const { World } = await import('../../../test/simulation/world.ts');

let worlds = 0;
// What nobody awaits ends a function, too.
process.on('uncaughtException', (error) => tell(`exception: ${error.stack}`));
tell(await play());

async function play(): Promise<string | undefined> {
  for (let seed = Number(first); worlds < Number(runs); seed++) {
    worlds += 1;
    const { broken } = await new World(seed).run();
    if (broken.length > 0) return broken[0];
  }
  return undefined;
}

function tell(wrong: string | undefined): void {
  const { user, system } = process.cpuUsage();
  const cpuMs = Math.round((user + system) / 1000);
  const played: Played = { ...(wrong === undefined ? {} : { wrong }), worlds, cpuMs, loaded: isLoaded() };
  process.stdout.write(`${JSON.stringify(played)}\n`, () => process.exit(0));
}
