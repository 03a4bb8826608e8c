import { parentPort, workerData } from 'node:worker_threads';
import { overload } from './overload.ts';

/** Plays one world for each seed that it is given, beside other workers. */
for (const seed of workerData as readonly number[]) parentPort?.postMessage(await overload(seed));
