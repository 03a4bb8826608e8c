import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { listed } from '#cli/orders';
import { type RuleView, rulePath } from '#cli/rules';
import { table } from '#cli/text';

interface Options {
  ruleVersion?: number;
}

/** Shows a rule as JSON, with its figures. */
export const ruleShow: CliCommand<Options> = {
  name: 'rule show',
  summary: 'Show a rule, or an earlier version of it',
  declare: (command) =>
    command.argument('<id>', 'rule id').option('--rule-version <number>', 'an earlier version', wholeOption(1, 999_999_999)),

  async run(cli, { ruleVersion }, [id = '']) {
    const query = ruleVersion === undefined ? '' : `?version=${ruleVersion}`;
    const { body } = await (await cli.api('viewer')).call<RuleView>('GET', `${rulePath(id)}${query}`);
    cli.print(body, () => `${JSON.stringify(body, null, 2)}\n`);
  },
};

interface Version {
  readonly version: number;
  readonly at: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly rule: RuleView | null;
}

/** Lists the versions of a rule, the newest first. */
export const ruleHistory: CliCommand = {
  name: 'rule history',
  summary: 'List the versions of a rule',
  declare: (command) => command.argument('<id>', 'rule id'),

  async run(cli, _, [id = '']) {
    const items = await listed<Version>(await cli.api('viewer'), `${rulePath(id)}/versions`);
    const rows = items.map(({ version, at, by, reason, rule }) => [
      String(version),
      rule?.mode ?? 'deleted',
      at ?? 'with the app',
      by ?? '',
      reason ?? '',
    ]);
    cli.print({ items }, () => table(['version', 'mode', 'at', 'by', 'reason'], rows, cli.paint));
  },
};
