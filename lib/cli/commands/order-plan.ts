import type { CliCommand } from '#cli/command';
import { orderPath, resolveOrderId } from '#cli/orders';
import { type Paint, printable, table } from '#cli/text';

interface Options {
  undo: string;
}

interface Plan {
  readonly steps: readonly {
    readonly path: string;
    readonly agent: string;
    readonly operation: string;
    readonly input: unknown;
    readonly outcomeUnknown: boolean;
    readonly impossible?: string;
  }[];
  readonly withoutUndo: readonly { readonly path: string }[];
}

/** Shows what an undo of an order would do, and changes nothing. */
export const orderPlan: CliCommand<Options> = {
  name: 'order plan',
  summary: 'shows what an undo of an order would do, in order',
  declare: (command) =>
    command
      .argument('<id>', 'the order, or the beginning of its id')
      .option('--undo <scope>', 'a composite of its workflow, by its name or path', 'order'),

  async run(cli, { undo }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body } = await api.call<Plan>('GET', `${path}/plan?${new URLSearchParams({ undo })}`);
    cli.print(body, () => planText(body, cli.paint));
  },
};

function planText({ steps, withoutUndo }: Plan, paint: Paint): string {
  const rows = steps.map((step) => [step.path, `${step.agent}.${step.operation}`, inputText(step)]);
  const undone = rows.length === 0 ? 'Nothing would be undone.\n' : table(['undone', 'by', 'with'], rows, paint);
  const left = withoutUndo.map(({ path }) => printable(path)).join(', ');
  return left === '' ? undone : `${undone}Without an undo, and to stay as they are: ${left}.\n`;
}

function inputText({ input, outcomeUnknown, impossible }: Plan['steps'][number]): string {
  if (impossible !== undefined) return `a person must see to it: ${impossible}`;
  return outcomeUnknown ? 'if it was done, which is found out first' : JSON.stringify(input);
}
