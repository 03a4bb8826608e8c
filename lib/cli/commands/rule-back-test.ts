import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { secondText } from '#cli/orders';
import { readRule } from '#cli/rules';
import { listedId, table } from '#cli/text';
import { backTestLimits } from '#roles/rules/back-test';

interface Options {
  days: number;
}

interface PageView {
  readonly examined: number;
  readonly matched: number;
  readonly sameOutcome: number;
  readonly differs: number;
  readonly items: readonly {
    readonly orderId: string;
    readonly exceptionId: string;
    readonly at: string;
    readonly wouldHave: { readonly kind: string };
    readonly whatHappened: { readonly by: string; readonly kind?: string; readonly verified?: string } | null;
  }[];
  readonly next: string | null;
}

type Sums = Omit<PageView, 'next'>;

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
    let sums: Sums = { examined: 0, matched: 0, sameOutcome: 0, differs: 0, items: [] };
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const body = { rule, days, ...(cursor === undefined ? {} : { cursor }) };
      const page: PageView = (await api.call<PageView>('POST', '/rules/back-test', { body })).body;
      sums = added(sums, page);
      cursor = page.next;
      if (!cli.json) cli.terminal.say(figuresText(sums));
    }
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

const added = (sums: Sums, page: PageView): Sums => ({
  examined: sums.examined + page.examined,
  matched: sums.matched + page.matched,
  sameOutcome: sums.sameOutcome + page.sameOutcome,
  differs: sums.differs + page.differs,
  items: [...sums.items, ...page.items].slice(0, backTestLimits.itemsMax),
});

const figuresText = ({ examined, matched, sameOutcome, differs }: Sums): string =>
  `${examined} examined, ${matched} matched: ${sameOutcome} with the same outcome, ${differs} differ.`;
