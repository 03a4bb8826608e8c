import { command } from './command.ts';
import type { SoakSubject } from './measurement.ts';

const runs = 1000;
/** Orders in all. Besides `runs`, a quarter as many run as called orders, and an eighth as many with a small state limit: see the test. */
const orders = runs + Math.ceil(runs / 4) + Math.ceil(runs / 8);

/** The laws of the language, for random orders of random workflows. */
export function language(): SoakSubject {
  const { run, stop } = command();
  return {
    seeds: 1,
    stop,
    async round(seed) {
      const env = { LANGUAGE_SEED: `${seed}`, LANGUAGE_RUNS: `${runs}`, LOG_LEVEL: 'off' };
      const { code, output } = await run(['--test', '--test-reporter=spec', 'test/core/language.test.ts'], env);
      const again = `LANGUAGE_SEED=${seed} LANGUAGE_RUNS=${runs} npm test test/core/language.test.ts`;
      if (code === undefined) return { counts: {}, broken: [] };
      // The number of orders before the failure is unknown, so none count.
      if (code !== 0) return { counts: {}, broken: [{ wrong: reasonIn(output), again }] };
      return { counts: { 'orders of the language': orders }, broken: [] };
    },
  };
}

const reasonIn = (output: string): string => /(Property failed|Error: )[^\n]*(\n[^\n]+){0,4}/.exec(output)?.[0] ?? output.slice(-500);
