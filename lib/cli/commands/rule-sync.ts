import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { textOption } from '#cli/options';
import { differences, fileOf, readRule, rulesOf, writeRule } from '#cli/rules';
import { counted } from '#cli/text';

interface Options {
  reason: string;
}

/** Writes the rules of a folder that differ from those of the system. Rules without a file stay. */
export const rulePush: CliCommand<Options> = {
  name: 'rule push',
  summary: 'Write the changed rules of a folder',
  declare: (command) =>
    command
      .argument('<folder>', 'folder with a file <id>.json for each rule')
      .requiredOption('--reason <text>', 'why; kept with each version', textOption),

  async run(cli, { reason }, [folder = '']) {
    const files = await Promise.all(
      idsIn(folder).map(async (id) => ({ id, file: await readRule(join(folder, `${id}.json`), cli.terminal) })),
    );
    const api = await cli.api('admin');
    const system = new Map((await rulesOf(api)).map((rule) => [rule.id, rule]));
    const changed = files.filter(({ id, file }) => differences(system.get(id), id, file).length > 0);
    const written: { id: string; version: number }[] = [];
    for (const { id, file } of changed) {
      const { version } = await writeRule(api, system.get(id), { id, file, reason });
      written.push({ id, version });
      if (!cli.json) cli.terminal.say(`${id}: version ${version}.`);
    }
    cli.print({ written, unchanged: files.length - written.length }, () => '');
    if (!cli.json) cli.terminal.say(`${counted(written.length, 'rule')} written, ${files.length - written.length} unchanged.`);
  },
};

/** Writes the rules of people into files of a folder. */
export const rulePull: CliCommand = {
  name: 'rule pull',
  summary: 'Write the rules of people to a folder',
  declare: (command) => command.argument('<folder>', 'folder for a file <id>.json for each rule'),

  async run(cli, _, [folder = '']) {
    const rules = (await rulesOf(await cli.api('viewer'))).filter(({ origin }) => origin === 'people');
    mkdirSync(folder, { recursive: true });
    for (const rule of rules) writeFileSync(join(folder, `${rule.id}.json`), `${JSON.stringify(fileOf(rule), null, 2)}\n`);
    cli.print({ written: rules.map(({ id }) => id) }, () => '');
    if (!cli.json) cli.terminal.say(`${counted(rules.length, 'rule')} written to ${folder}.`);
  },
};

function idsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
      .toSorted();
  } catch (error) {
    throw new UsageError(`Cannot read the folder ${folder}: ${(error as Error).message}.`);
  }
}
