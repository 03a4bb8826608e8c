import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { listedId, printable, table } from '#cli/text';
import { workflowPath } from '#cli/workflows';

interface Options {
  readonly limit: number;
}

interface CheckedView {
  readonly orderId: string;
  readonly version: number;
  readonly processState: string;
  readonly fits: boolean;
  readonly reason?: string;
}

interface PageView {
  readonly items: readonly CheckedView[];
  readonly next: string | null;
}

/** The largest number of orders that are shown of those that do not fit. `--json` has all. */
const shownMax = 100;

/** Counts the stored orders of other versions that would have the same history on this version, and says why the others would not. */
export const workflowHistories: CliCommand<Options> = {
  name: 'workflow histories',
  summary: 'Compare the histories of stored orders with a version',
  declare: (command) =>
    command
      .argument('<workflow>', 'workflow and version of the running system: fulfil-order@2')
      .option('--limit <number>', 'stop after the page that reaches so many orders', wholeOption(1, 1_000_000), 10_000),

  async run(cli, { limit }, [workflow = '']) {
    const path = workflowPath(workflow);
    const api = await cli.api('operator');
    const unfit: CheckedView[] = [];
    let checked = 0;
    let cursor: string | null | undefined;
    while (cursor !== null && checked < limit) {
      const { body }: { readonly body: PageView } = await api.call<PageView>('POST', `${path}/check`, {
        body: cursor === undefined ? {} : { cursor },
      });
      checked += body.items.length;
      unfit.push(...body.items.filter(({ fits }) => !fits));
      cursor = body.next;
      if (!cli.json && cursor !== null) cli.terminal.say(`${checked} orders compared, ${checked - unfit.length} fit`);
    }
    const rows = unfit
      .slice(0, shownMax)
      .map((each) => [listedId(each.orderId, cli.terminal), String(each.version), each.processState, each.reason ?? '']);
    cli.print({ checked, fit: checked - unfit.length, unfit }, () =>
      rows.length > 0 ? table(['order', 'version', 'state', 'does not fit because'], rows, cli.paint) : '',
    );
    if (cli.json) return undefined;
    if (unfit.length > shownMax) cli.terminal.say(`${shownMax} of ${unfit.length} are shown. --json lists all.`);
    const others = cursor === null ? '' : ' More orders were not compared: raise --limit.';
    cli.terminal.say(`${checked - unfit.length} of ${checked} orders of other versions fit ${printable(workflow)}.${others}`);
    return undefined;
  },
};
