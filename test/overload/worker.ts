import { parentPort, workerData } from 'node:worker_threads';
import { overload } from './overload.ts';

/** Plays one world for each seed in its arguments, beside other workers. */
for (const seed of workerData as readonly number[]) parentPort?.postMessage(await overload(seed));
