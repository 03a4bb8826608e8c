import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { textOption } from '#cli/options';
import { type SolutionView, solutionFileOf, solutionPath, solutionsOf } from '#cli/solutions';
import { readData } from '#cli/submission-file';
import { isObject, type JsonObject } from '#core/data/json';

interface Options {
  readonly reason: string;
}

/** Writes a solution over the version that it has just read. */
export const solutionPut: CliCommand<Options> = {
  name: 'solution put',
  summary: 'Write a solution from a file',
  declare: (command) =>
    command
      .argument('<id>', 'solution id')
      .argument('<file>', 'JSON file with the fields of the solution, - for standard input')
      .requiredOption('--reason <text>', 'why; kept in the audit', textOption),

  async run(cli, { reason }, [id = '', file = '']) {
    const path = solutionPath(id);
    const given = await readData(`@${file}`, cli.terminal);
    if (!isObject(given)) throw new UsageError(`${file === '-' ? 'Standard input' : file} is not a solution: expected a JSON object.`);
    const api = await cli.api('operator');
    const before = (await solutionsOf(api)).find((each) => each.id === id);
    const headers = before ? { 'if-match': `"${before.version}"` } : {};
    const body = { ...solutionFileOf(given as JsonObject), reason };
    const { body: written } = await api.call<SolutionView>('PUT', path, { body, headers });
    cli.print(written, () => '');
    if (!cli.json) cli.terminal.say(`${id}: version ${written.version}.`);
    return undefined;
  },
};

/** Deletes a solution. */
export const solutionDelete: CliCommand<Options> = {
  name: 'solution delete',
  summary: 'Delete a solution that nobody needs any more',
  declare: (command) => command.argument('<id>', 'solution id').requiredOption('--reason <text>', 'why; kept in the audit', textOption),

  async run(cli, { reason }, [id = '']) {
    const path = solutionPath(id);
    const api = await cli.api('operator');
    const { etag = '' } = await api.call<SolutionView>('GET', path);
    const { body } = await api.call('DELETE', `${path}?reason=${encodeURIComponent(reason)}`, { headers: { 'if-match': etag } });
    cli.print(body, () => '');
    if (!cli.json) cli.terminal.say(`${id} is deleted.`);
    return undefined;
  },
};
