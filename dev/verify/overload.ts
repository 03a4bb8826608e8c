import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { missedBy, type Overload } from '../../test/overload/overload.ts';
import { type Figure, measured } from './figure.ts';

/** G18: a service is unavailable for ten minutes at twice the usual load, and the system recovers without any help (L8, X-45). */
export const figure: Figure = {
  shows:
    'a service away for 10 simulated minutes at twice the usual load: no order fails because of that, and the backlog is processed without a retry storm (L8)',
  async measure({ form, seed, cores, progress }) {
    const seeds = Array.from({ length: form === 'full' ? 20 : 2 }, (_, index) => seed + index);
    const worlds: Overload[] = [];
    await Promise.all(
      Array.from({ length: Math.min(cores, seeds.length) }, async (_, core) => {
        const mine = seeds.filter((_seed, index) => index % Math.min(cores, seeds.length) === core);
        const worker = new Worker(new URL('../../test/overload/worker.ts', import.meta.url), { workerData: mine });
        worker.on('message', (world: Overload) => {
          worlds.push(world);
          progress(`${worlds.length} of ${seeds.length} worlds`);
        });
        const [code] = (await once(worker, 'exit')) as [number];
        if (code !== 0) throw new Error(`A worker ended with ${code}.`);
      }),
    );
    worlds.sort((one, other) => one.seed - other.seed);
    const missed = worlds.map(missedBy);
    const few = worlds
      .filter(({ orders, needed }) => orders < 2000 || needed < 1000)
      .map((each) => `seed ${each.seed}: too little happened`);
    const sum = (of: (world: Overload) => number): number => worlds.reduce((total, world) => total + of(world), 0);
    return measured([...missed.flat(), ...few], {
      worldsReached: `${missed.filter((list) => list.length === 0).length}/${seeds.length}`,
      orders: sum(({ orders }) => orders),
      completed: sum(({ completed }) => completed),
      failed: sum(({ failed }) => failed),
      callsToNeeded: Math.round((100 * sum(({ calls }) => calls)) / sum(({ needed }) => needed)) / 100,
      worlds,
    });
  },
};
