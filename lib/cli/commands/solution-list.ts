import type { CliCommand } from '#cli/command';
import { type SolutionView, solutionPath, solutionsOf, solutionsText } from '#cli/solutions';

/** Lists the solutions. */
export const solutionList: CliCommand = {
  name: 'solution list',
  summary: 'List the solutions with how often they worked',

  async run(cli) {
    const items = await solutionsOf(await cli.api('viewer'));
    cli.print({ items }, () => solutionsText(items, cli.paint));
    if (!cli.json && items.length === 0) cli.terminal.say('There are no solutions. To keep one: redress task resolve … --save-as NAME');
    return undefined;
  },
};

/** Shows a solution as JSON, with its figures. */
export const solutionShow: CliCommand = {
  name: 'solution show',
  summary: 'Show a solution',
  declare: (command) => command.argument('<id>', 'solution id'),

  async run(cli, _, [id = '']) {
    const { body } = await (await cli.api('viewer')).call<SolutionView>('GET', solutionPath(id));
    cli.print(body, () => `${JSON.stringify(body, null, 2)}\n`);
    return undefined;
  },
};
