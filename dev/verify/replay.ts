import { otherNodes } from '../tools/other-node.ts';
import { type Figure, measured, type Run } from './figure.ts';
import { seedsFrom, spread } from './spread.ts';

const sizes = { full: 1000, short: 60 };
const pieceOf = 10;

/** A way to play a seed again. */
interface Way {
  readonly name: string;
  readonly execPath?: string;
  readonly execArgv?: readonly string[];
}

/** No optimizing compiler, smaller spaces for new objects, and another seed of hashes: none of that may have an effect. */
const otherFlags: Way = { name: 'other V8 flags', execArgv: [...process.execArgv, '--no-opt', '--max-semi-space-size=1', '--hash-seed=7'] };

/** G3, S21: a seed is one run in every process, event by event and byte by byte of what is written and sent. */
export const figure: Figure = {
  shows: 'a replayed seed gives the same run: in another process, after other seeds, on another version of Node',
  async measure(run) {
    const first = await fingerprints(run, { name: 'first' });
    const ways = [{ name: 'again' }, otherFlags, ...(await otherNodes({ install: run.form === 'full' }))];
    const different: { [way: string]: number } = {};
    const shortfalls: string[] = [];
    for (const way of ways) {
      const again = await fingerprints(run, way);
      const wrong = [...first].filter(([seed, fingerprint]) => again.get(seed) !== fingerprint).map(([seed]) => seed);
      different[way.name] = wrong.length;
      if (wrong.length > 0)
        shortfalls.push(`${way.name}: ${wrong.length} of ${first.size} seeds give another run, for example seed ${wrong[0]}`);
      run.progress(`${way.name}: ${wrong.length} of ${first.size} different`);
    }
    if (run.form === 'full' && ways.length < 4) shortfalls.push('there was no other version of Node to replay the seeds with');
    if (new Set(first.values()).size < first.size) shortfalls.push('different seeds give the same run');
    return measured(shortfalls, { seeds: first.size, node: process.version, different });
  },
};

/** Returns fingerprints by seed. The first way has larger pieces than the others: earlier seeds in the same process must not matter. */
async function fingerprints({ form, seed, cores }: Run, { name, ...node }: Way): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  await spread<{ readonly first: number; readonly runs: number }, string[]>({
    module: new URL('./fingerprints.ts', import.meta.url),
    jobs: seedsFrom(seed, sizes[form], name === 'first' ? pieceOf : pieceOf - 3),
    cores,
    onResult(list, { first }) {
      for (const [index, fingerprint] of list.entries()) found.set(first + index, fingerprint);
    },
    ...node,
  });
  return found;
}
