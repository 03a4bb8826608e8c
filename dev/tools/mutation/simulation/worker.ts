import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Observation } from '../../../../lib/testing/world/observation.ts';
import { root } from '../../run.ts';
import { type Played, type PlayRequest, sign } from './messages.ts';
import { sourcesFile } from './plan.ts';

/**
 * Plays worlds with one change of the code after another in one process, so that a change costs no more than its worlds. Code
 * that runs only at loading gets a worker of its own, with `MUTANT` set.
 */
interface Mutation {
  active: string | undefined;
  hits: { [mutant: string]: number } | undefined;
  /** Counts how often the changed place ran. An extreme count means an endless loop. */
  hit(): true;
}
const silence = 'nothing comes to rest: three hours in which nothing happens';
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

const { World } = await import('../../../../test/simulation/world.ts');
const atLoading = mutation.hits ?? {};
let seen = createHash('sha256');

/** Three hours of virtual time, so three sweeps that find nothing. An unchanged world is silent for at most an hour. */
const silenceMaxMs = 3 * 3_600_000;
const stepsPerSign = 2000;

/** Records everything that is visible from outside. A change with the same record makes no difference. */
class WatchedWorld extends World {
  private lastSeen = 0;

  constructor(seed: number) {
    super(seed);
    const { timeline } = this;
    const step = timeline.step.bind(timeline);
    timeline.step = () => {
      if (timeline.events % stepsPerSign === 0) process.send?.(sign);
      if (!this.faults.over) this.lastSeen = timeline.now;
      if (timeline.now - this.lastSeen > silenceMaxMs) throw new Error(silence);
      return step();
    };
  }

  override record(observation: Observation): void {
    this.lastSeen = this.timeline.now;
    seen.update(JSON.stringify(observation));
    super.record(observation);
  }
}

let thrown: unknown;
process.on('unhandledRejection', (error) => {
  thrown ??= error;
});

/** Processor time of this process: on a shared machine the clock says little. */
const cpuMs = (): number => process.cpuUsage().user / 1000;

async function play({ seed, mutant }: PlayRequest): Promise<Played> {
  seen = createHash('sha256');
  passed = 0;
  thrown = undefined;
  const hits: { [mutant: string]: number } = {};
  mutation.active = mutant;
  mutation.hits = mutant === undefined ? hits : undefined;
  const begun = cpuMs();
  let periodMs = 0;
  let happened: Played['happened'] = {};
  let broken: readonly string[] = [];
  try {
    const world = new WatchedWorld(seed);
    periodMs = world.periodMs;
    const outcome = await world.run();
    seen.update(outcome.fingerprint);
    happened = Object.fromEntries([...outcome.happened, ...outcome.io]);
    broken = outcome.broken;
  } catch (error) {
    thrown ??= error;
  }
  return { seed, wrong: wrongIn(broken), ms: cpuMs() - begun, periodMs, print: seen.digest('hex').slice(0, 16), happened, hits };
}

function wrongIn(broken: readonly string[]): string | undefined {
  if (passed > hitsMax) return 'a loop that never ends';
  if (broken.length > 0) return broken[0];
  if (thrown === undefined) return undefined;
  return thrown instanceof Error && thrown.message === silence ? silence : `thrown: ${thrown}`;
}

process.on('message', (request: PlayRequest) => void play(request).then((played) => process.send?.(played)));
process.on('disconnect', () => process.exit());
process.send?.({ atLoading });
