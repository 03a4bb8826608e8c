import { backTested, figuresText } from '#cli/back-test';
import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { fileOf } from '#cli/rules';
import { parameterOption, parametersOf, type SolutionView, solutionPath } from '#cli/solutions';
import type { JsonObject } from '#core/data/json';
import { backTestLimits } from '#roles/rules/back-test';

interface Options {
  readonly parameter?: readonly string[];
  readonly days: number;
}

/** Prints the definition of a rule that does what a solution does, and back-tests the rule. Nothing is stored. */
export const solutionRule: CliCommand<Options> = {
  name: 'solution rule',
  summary: 'Make a rule from a solution, and back-test it',
  declare: (command) =>
    command
      .argument('<id>', 'solution id')
      .option(
        '--parameter <name=value>',
        'the value of a parameter of the solution; {"$cel": "…"} is evaluated for each order; may be given again',
        parameterOption,
      )
      .option('--days <number>', 'back-test on the exceptions of the last days', wholeOption(1, backTestLimits.daysMax), 7),

  async run(cli, { parameter, days }, [id = '']) {
    const api = await cli.api('operator');
    const { body: solution } = await api.call<SolutionView>('GET', solutionPath(id));
    const parameters = parametersOf(parameter, solution);
    const { rule } = (await api.call<{ rule: JsonObject }>('POST', `${solutionPath(id)}/rule`, { body: { parameters } })).body;
    const tested = await backTested(api, fileOf(rule), days);
    cli.print({ rule, backTest: tested }, () => `${JSON.stringify(fileOf(rule), null, 2)}\n`);
    if (!cli.json) cli.terminal.say(`${figuresText(tested)}\nTo write it: redress rule put ${id} FILE --reason '…'`);
    return undefined;
  },
};
