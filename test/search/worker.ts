import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Broken } from './broken.ts';
import type { Scenario } from './scenarios.ts';
import type { Found } from './search.ts';

interface Task {
  readonly scenario: Scenario;
  readonly statesMax?: number;
  /** The broken line of the shipped code. */
  readonly broken?: Pick<Broken, 'file' | 'line' | 'instead'>;
}

/** Searches in a separate thread, with its own copy of the code. `progress` gets the progress. */
export function searchIn(task: Task, progress: (line: string) => void = () => {}): Promise<Found> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: task, resourceLimits: { maxOldGenerationSizeMb: 6000 } });
    worker.on('message', (message: { readonly line: string } | { readonly found: Found }) =>
      'line' in message ? progress(message.line) : resolve(message.found),
    );
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`The search ended with ${code}, and found nothing out.`)));
  });
}

/** Replaces the line in the file as it loads. A line that is missing, or occurs twice, breaks nothing. */
function breakLine({ file, line, instead }: NonNullable<Task['broken']>): void {
  const url = new URL(`../../${file}`, import.meta.url).href;
  const source = readFileSync(fileURLToPath(url), 'utf8');
  if (source.split(line).length !== 2) throw new Error(`${file} has no line, or several, with: ${line}`);
  registerHooks({
    load: (loaded, context, next) =>
      loaded === url
        ? { format: 'module-typescript', shortCircuit: true, source: source.replace(line, () => instead) }
        : next(loaded, context),
  });
}

if (parentPort) {
  const port = parentPort;
  const { scenario, broken, statesMax } = workerData as Task;
  if (broken) breakLine(broken);
  const { search } = await import('./search.ts');
  const found = await search(scenario, {
    ...(statesMax === undefined ? {} : { statesMax }),
    progress: (line) => port.postMessage({ line }),
  });
  port.postMessage({ found });
}
