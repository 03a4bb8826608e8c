import { applyMutant } from './hook.ts';
import { classic, further } from './index.ts';

/** The result of one mutant. */
export interface Played {
  /** The broken law in words; absent if none was broken. */
  readonly wrong?: string;
  /** The number of worlds that were played, up to the one that broke the law. */
  readonly worlds: number;
  /** Processor time, including the start. */
  readonly cpuMs: number;
  /** Whether the file with the mistake was loaded at all. */
  readonly loaded: boolean;
}

/**
 * Runs one mutant in a process of its own: `play.ts NAME FIRST RUNS` plays one world for each seed until a law is broken, and
 * prints the result.
 */
const [name = '', first = '1', runs = '1'] = process.argv.slice(2);
const mutant = [...classic, ...further].find((each) => each.name === name);
if (!mutant) throw new Error(`There is no mutant "${name}".`);
const isLoaded = applyMutant(mutant);
const { World } = await import('../../../test/simulation/world.ts');

let worlds = 0;
// A rejection that is never awaited would end the process of a function, so it counts like a broken law.
process.on('uncaughtException', (error) => print(`exception: ${error.stack}`));
print(await play());

async function play(): Promise<string | undefined> {
  for (let seed = Number(first); worlds < Number(runs); seed++) {
    worlds += 1;
    const { broken } = await new World(seed).run();
    if (broken.length > 0) return broken[0];
  }
  return undefined;
}

function print(wrong: string | undefined): void {
  const { user, system } = process.cpuUsage();
  const cpuMs = Math.round((user + system) / 1000);
  const played: Played = { ...(wrong === undefined ? {} : { wrong }), worlds, cpuMs, loaded: isLoaded() };
  process.stdout.write(`${JSON.stringify(played)}\n`, () => process.exit(0));
}
