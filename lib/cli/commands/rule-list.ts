import type { CliCommand } from '#cli/command';
import { rulesOf } from '#cli/rules';
import { table } from '#cli/text';

/** Lists the rules of the app and of people. */
export const ruleList: CliCommand = {
  name: 'rule list',
  summary: 'List the rules of the app and of people',

  async run(cli) {
    const items = await rulesOf(await cli.api('viewer'));
    const rows = items.map(({ id, mode, priority, origin, version, hits, name }) => [
      id,
      mode,
      String(priority),
      origin,
      String(version),
      String(hits),
      name,
    ]);
    cli.print({ items }, () =>
      rows.length > 0 ? table(['rule', 'mode', 'priority', 'origin', 'version', 'hits', 'name'], rows, cli.paint) : '',
    );
    if (!cli.json && items.length === 0) cli.terminal.say('There are no rules.');
  },
};
