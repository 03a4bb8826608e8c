import type { Json } from '#core/data/json';
import type { Answer } from './spread.ts';

/** A process of `spread`: runs the jobs that it receives, one after the other, with the module that its argument names. */
const { work } = (await import(`${process.argv[2]}`)) as { readonly work: (job: Json) => Promise<Json> };

process.on('message', ({ job }: { readonly job: Json }) => void answer(job));
// A worker without the process that sent its jobs has nothing left to do.
process.on('disconnect', () => process.exit(0));

async function answer(job: Json): Promise<void> {
  process.send?.(await resultOf(job));
}

async function resultOf(job: Json): Promise<Answer> {
  try {
    return { result: await work(job) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
