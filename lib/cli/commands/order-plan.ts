import type { CliCommand } from '#cli/command';
import { type OrderView, orderPath, resolveOrderId } from '#cli/orders';
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

/** Shows what an undo of an order would do, without changing anything. */
export const orderPlan: CliCommand<Options> = {
  name: 'order plan',
  summary: 'Show what undoing an order would do',
  declare: (command) =>
    command.argument('<id>', 'order id, or its beginning').option('--undo <scope>', 'scope to undo: name or path of a composite', 'order'),

  async run(cli, { undo }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body } = await api.call<Plan>('GET', `${path}/plan?${new URLSearchParams({ undo })}`);
    const { body: order } = await api.call<OrderView>('GET', path);
    cli.print(body, () => (order.processState === 'Processed' ? finishedText(order) : planText(body, cli.paint)));
  },
};

const finishedText = ({ outcome }: OrderView): string =>
  `The order is finished (${outcome}), so none of its steps will be undone any more.\n`;

function planText({ steps, withoutUndo }: Plan, paint: Paint): string {
  const rows = steps.map((step) => [step.path, `${step.agent}.${step.operation}`, inputText(step)]);
  const undone = rows.length === 0 ? 'Nothing would be undone.\n' : table(['would be undone', 'by', 'with'], rows, paint);
  const left = withoutUndo.map(({ path }) => printable(path)).join(', ');
  return left === '' ? undone : `${undone}Steps without an undo, which would stay as they are: ${left}.\n`;
}

function inputText({ input, outcomeUnknown, impossible }: Plan['steps'][number]): string {
  if (impossible !== undefined) return `undo impossible, a person must do it: ${impossible}`;
  return outcomeUnknown ? 'only if the effect is confirmed' : JSON.stringify(input);
}
