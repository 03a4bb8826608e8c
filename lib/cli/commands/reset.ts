import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Cli, CliCommand } from '#cli/command';
import { FailedError, UnreachableError, UsageError } from '#cli/errors';
import { createApi } from '#cli/http';

const isOurs = (file: string): boolean =>
  /^(redress|shop)\.sqlite(-wal|-shm|-journal)?$/.test(file) ||
  /^issuer\.json(\.\d+\.[0-9a-f]+)?$/.test(file) ||
  /^keys\.json(\.new|\.lock.*)?$/.test(file);

/** Deletes the system's files in the data folder and keeps all others. */
export const reset: CliCommand<{ yes?: true }> = {
  name: 'reset',
  summary: 'Delete all data, the token key and the keys of secrets',
  declare: (command) => command.option('--yes', 'do not ask, and delete even while a system is running'),

  async run(cli, { yes }) {
    const { dataFolder, terminal } = cli;
    const files = filesIn(dataFolder);
    const ours = files.filter(isOurs);
    if (!yes) {
      if (!terminal.canAsk || cli.json) throw new UsageError(`This would delete all orders in ${dataFolder}. Confirm with --yes.`);
      if (ours.length > 0) await ask(cli, ours);
    }

    for (const file of ours) rmSync(join(dataFolder, file), { force: true });
    if (ours.length > 0 && ours.length === files.length) rmdirSync(dataFolder);
    const left = files.length - ours.length;
    terminal.say(
      ours.length === 0
        ? `${dataFolder} has no data of redress.`
        : `Deleted the data in ${dataFolder}.${left > 0 ? ` ${left} other files are still there.` : ''}`,
    );
    cli.print({ dataFolder, deleted: ours }, () => '');
  },
};

/** Asks the person to confirm; rejects if they do not, or while a system is running. */
async function ask({ dataFolder, url, terminal }: Cli, files: readonly string[]): Promise<void> {
  if (await isRunning(url))
    throw new FailedError(`A system is running at ${url}. Stop it first, or reset its data while it runs with --yes.`);
  if (!(await terminal.confirm(`Delete all orders in ${dataFolder} (${files.join(', ')})?`))) throw new FailedError('Nothing was deleted.');
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const healthMs = 2_000;

/** Whether any server answers at the URL: it may be a system that uses this folder. */
async function isRunning(url: string): Promise<boolean> {
  try {
    await createApi({ url, timeoutMs: healthMs }).call('GET', '/health');
    return true;
  } catch (error) {
    return !(error instanceof UnreachableError);
  }
}
