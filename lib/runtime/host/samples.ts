import { readdirSync, readFileSync } from 'node:fs';
import type { Sample } from '#api/chaos';
import type { Host } from './host.ts';

/** A sample order of the app, from a file that holds the body of a submission. */
interface SampleFile extends Sample {
  /** The file's name. */
  readonly file: string;
  readonly reference?: string;
}

const nameOf = ({ file }: SampleFile): string => file.replace(/\.json$/, '');

/** Reads the sample orders of a folder; none without a folder. */
export const samplesIn = (folder: URL | undefined): readonly SampleFile[] =>
  folder === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .sort()
        .map((file) => ({ ...(JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Sample), file }));

export const samplesByName = (samples: readonly SampleFile[]): ReadonlyMap<string, Sample> =>
  new Map(samples.map((sample) => [nameOf(sample), sample]));

/** Submits the sample orders. A sample without a reference gets the name of its file. */
export async function submitSamples(samples: readonly SampleFile[], { system: { submit } }: Pick<Host, 'system'>): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(`    submitting ${samples.length} sample orders (set REDRESS_SAMPLES=off to skip them)`);
  for (const sample of samples) {
    const { order, workflow, reference = nameOf(sample), file } = sample;
    const submitted = await submit({
      client: 'samples',
      idempotencyKey: file,
      order,
      reference,
      ...(workflow ? { workflow } : {}),
    });
    if (submitted.outcome === 'invalid') say(`    ${file.padEnd(24)} refused: ${submitted.problems[0]?.detail}`);
  }
}
