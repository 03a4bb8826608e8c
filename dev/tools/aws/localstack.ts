import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../run.ts';
import { type AwsEmulator, mustBeFree, pathWithThisNode } from './emulator.ts';

/** The longest time of a start: the first start installs LocalStack. */
const readyWithinMs = 600_000;

/** The folder with the programs `start` and `stop`, which run LocalStack without Docker on the port given as PORT. */
export const localStackFolder = (): string => resolve(root, process.env['REDRESS_LOCALSTACK'] || '../shared/localstack');

/** Starts LocalStack on a free port. Returns undefined without the folder; a caller that requires LocalStack must report that. */
export async function startLocalStack({ port }: { readonly port: number }): Promise<AwsEmulator | undefined> {
  const folder = localStackFolder();
  if (!existsSync(`${folder}/start`)) return undefined;
  // `start` would adopt a LocalStack that already runs there, and `stop` would end it.
  await mustBeFree(port);
  const env = { ...process.env, PATH: pathWithThisNode(), PORT: String(port) };
  const stop = (): void => void execFileSync(`${folder}/stop`, { env, stdio: 'inherit' });
  process.once('exit', stop);
  const code = await started(`${folder}/start`, env);
  if (code !== 0) {
    process.off('exit', stop);
    stop();
    throw new Error(
      `LocalStack can't be started on port ${port}: ${folder}/start ended with ${code}. ${folder}/README.md says what it needs.`,
    );
  }
  return {
    name: 'localstack',
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      process.off('exit', stop);
      const stopping = spawn(`${folder}/stop`, { env, stdio: 'inherit' });
      await once(stopping, 'exit');
    },
  };
}

async function started(program: string, env: NodeJS.ProcessEnv): Promise<number | string> {
  // The output of `start` is ignored: its 'ready' is meant for people who start LocalStack by hand.
  const starting = spawn(program, { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: readyWithinMs });
  try {
    const [code, signal] = (await once(starting, 'exit')) as [number | null, string | null];
    return code ?? signal ?? 'no exit code';
  } catch (error) {
    return String(error);
  }
}
