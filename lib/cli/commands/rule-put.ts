import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { differences, readRule, rulesOf, writeRule } from '#cli/rules';
import { table } from '#cli/text';

interface Options {
  reason: string;
}

/** Writes a rule over the version that it has just read. */
export const rulePut: CliCommand<Options> = {
  name: 'rule put',
  summary: 'Write a rule from a file',
  declare: (command) =>
    command
      .argument('<id>', 'rule id')
      .argument('<file>', 'JSON file with the fields of the rule, - for standard input')
      .requiredOption('--reason <text>', 'why; kept with the version', textOption),

  async run(cli, { reason }, [id = '', file = '']) {
    const rule = await readRule(file, cli.terminal);
    const api = await cli.api('admin');
    const before = (await rulesOf(api)).find((each) => each.id === id);
    const written = await writeRule(api, before, { id, file: rule, reason });
    cli.print(written, () => '');
    if (!cli.json) cli.terminal.say(`${id}: version ${written.version}, ${written.mode}.`);
  },
};

/** Compares a file with the rule of the system. */
export const ruleDiff: CliCommand = {
  name: 'rule diff',
  summary: 'Compare a file with a rule of the system',
  declare: (command) => command.argument('<id>', 'rule id').argument('<file>', 'JSON file, - for standard input'),

  async run(cli, _, [id = '', file = '']) {
    const rule = await readRule(file, cli.terminal);
    const system = (await rulesOf(await cli.api('viewer'))).find((each) => each.id === id);
    const found = differences(system, id, rule);
    cli.print({ id, exists: system !== undefined, differences: found }, () =>
      found.length === 0
        ? ''
        : table(
            ['field', 'system', 'file'],
            found.map((each) => [each.field, each.system, each.file]),
            cli.paint,
          ),
    );
    if (!cli.json && found.length === 0) cli.terminal.say(`${id}: the file and the system are the same.`);
    return found.length === 0 ? undefined : 1;
  },
};
