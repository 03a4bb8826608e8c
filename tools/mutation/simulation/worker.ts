import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Happening } from '../../../test/simulation/sight.ts';
import { root } from '../../run.ts';
import type { Ask, Played } from './messages.ts';
import { sourcesFile } from './plan.ts';

/**
 * Plays worlds with one change of the code after another, without being started anew for each: a change costs no more
 * than the worlds that it is tried in. What runs only at loading gets a worker of its own, with `MUTANT` set.
 */
interface Mutation {
  active: string | undefined;
  hits: { [mutant: string]: number } | undefined;
  /** How often the change was passed; far too often is a loop without an end. */
  hit(): true;
}
const hitsMax = 5_000_000;
let passed = 0;
const mutation: Mutation = {
  active: process.env['MUTANT'],
  hits: {},
  hit() {
    passed += 1;
    if (passed > hitsMax) throw new Error('a loop that never ends');
    return true;
  },
};
Object.assign(globalThis, { mutation });

const sources = JSON.parse(readFileSync(sourcesFile, 'utf8')) as { readonly [file: string]: string };
const byUrl = new Map(Object.entries(sources).map(([file, source]) => [pathToFileURL(`${root}${file}`).href, source]));
registerHooks({
  load(url, context, next) {
    const source = byUrl.get(url);
    return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true };
  },
});

const { World } = await import('../../../test/simulation/world.ts');
const atLoading = mutation.hits ?? {};
let seen = createHash('sha256');

/** Notes everything that can be seen from outside: a change that leaves all of it the same makes no difference. */
class WatchedWorld extends World {
  override saw(happening: Happening): void {
    seen.update(JSON.stringify(happening));
    super.saw(happening);
  }
}

let thrown: unknown;
process.on('unhandledRejection', (error) => {
  thrown ??= error;
});

async function play({ seed, mutant }: Ask): Promise<Played> {
  seen = createHash('sha256');
  passed = 0;
  thrown = undefined;
  const hits: { [mutant: string]: number } = {};
  mutation.active = mutant;
  mutation.hits = mutant === undefined ? hits : undefined;
  const begun = performance.now();
  let periodMs = 0;
  let happened: Played['happened'] = {};
  let broken: readonly string[] = [];
  try {
    const world = new WatchedWorld(seed);
    periodMs = world.periodMs;
    const outcome = await world.run();
    seen.update(outcome.fingerprint);
    happened = Object.fromEntries(outcome.happened);
    broken = outcome.broken;
  } catch (error) {
    thrown ??= error;
  }
  const wrong = passed > hitsMax ? 'a loop that never ends' : (broken[0] ?? (thrown === undefined ? undefined : `thrown: ${thrown}`));
  return { seed, wrong, ms: performance.now() - begun, periodMs, print: seen.digest('hex').slice(0, 16), happened, hits };
}

process.on('message', (ask: Ask) => void play(ask).then((played) => process.send?.(played)));
process.on('disconnect', () => process.exit());
process.send?.({ atLoading });
