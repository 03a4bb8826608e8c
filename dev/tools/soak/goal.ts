import { command } from './command.ts';
import type { SoakSubject } from './measurement.ts';

/** Returns the short form of a goal of `npm run verify`, with another seed each time. */
export function goal(name: string): SoakSubject {
  const { run, stop } = command();
  return {
    seeds: 1,
    stop,
    async round(seed) {
      const { code, output } = await run(['dev/verify/main.ts', name, '--short', '--seed', `${seed}`]);
      // The soak ended the goal before its result.
      if (code === undefined) return { counts: {}, broken: [] };
      const counts = { [`rounds of ${name}`]: 1 };
      if (code === 0) return { counts, broken: [] };
      return { counts, broken: [{ wrong: why(output), again: `npm run verify -- ${name} --short --seed ${seed}` }] };
    },
  };
}

/** Returns the reasons in the JSON line of a goal or, if there is no such line, the last 1,000 characters of its output. */
function why(output: string): string {
  const line = output.split('\n').findLast((each) => each.startsWith('{"goal"'));
  return line === undefined ? output.slice(-1000) : (JSON.parse(line) as { shortfalls: readonly string[] }).shortfalls.join('; ');
}
