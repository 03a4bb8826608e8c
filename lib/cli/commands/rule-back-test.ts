import { backTested, figuresText } from '#cli/back-test';
import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { secondText } from '#cli/orders';
import { readRule } from '#cli/rules';
import { listedId, table } from '#cli/text';
import { backTestLimits } from '#roles/rules/back-test';

interface Options {
  days: number;
}

/** Compares what a rule would have done about past exceptions with what happened. */
export const ruleBackTest: CliCommand<Options> = {
  name: 'rule back-test',
  summary: 'Compare a rule with what happened to past exceptions',
  declare: (command) =>
    command
      .argument('<file>', 'JSON file with the fields of the rule')
      .option('--days <number>', 'examine the exceptions of the last days', wholeOption(1, backTestLimits.daysMax), 7),

  async run(cli, { days }, [file = '']) {
    const rule = await readRule(file, cli.terminal);
    const api = await cli.api('operator');
    const sums = await backTested(api, rule, days, (sumsSoFar) => {
      if (!cli.json) cli.terminal.say(figuresText(sumsSoFar));
    });
    const rows = sums.items.map(({ at, orderId, wouldHave, whatHappened }) => [
      secondText(at),
      listedId(orderId, cli.terminal),
      wouldHave.kind,
      whatHappened ? [whatHappened.by, whatHappened.kind, whatHappened.verified].filter(Boolean).join(' ') : 'open',
    ]);
    cli.print(sums, () => (rows.length > 0 ? table(['at', 'order', 'would have', 'what happened'], rows, cli.paint) : ''));
    return undefined;
  },
};
