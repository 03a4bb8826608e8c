import { statusText } from '#cli/changes';
import type { Cli, CliCommand } from '#cli/command';
import { type OrderView, orderPath, resolveOrderId, type StepView, stateText, timeOf } from '#cli/orders';
import { printable, spanText, table } from '#cli/text';
import { workflowRef } from '#core/definition/workflow-ref';

/** Shows one order with its steps. */
export const orderGet: CliCommand = {
  name: 'order get',
  summary: 'Show one order and its steps',
  declare: (command) => command.argument('<id>', 'order id, or its beginning'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    const { body: order } = await api.call<OrderView>('GET', orderPath(await resolveOrderId(api, id)));
    cli.print(order, () => orderText(order, cli));
  },
};

function orderText(order: OrderView, { paint }: Pick<Cli, 'paint'>): string {
  const {
    orderId,
    processState,
    output,
    reference,
    workflow,
    submittedAt,
    updatedAt,
    fault,
    failureCount,
    remainingSeconds,
    explanation,
    steps = [],
  } = order;
  const facts = [
    ['state', `${processState}, ${stateText(order)}`],
    ...(explanation ? [['why', explanation]] : []),
    ...(output === undefined ? [] : [['output', JSON.stringify(output)]]),
    ['workflow', workflowRef(workflow)],
    ...(reference ? [['reference', reference]] : []),
    ['submitted', new Date(submittedAt).toISOString()],
    ['updated', `${new Date(updatedAt).toISOString()}, ${spanText(timeOf(updatedAt) - timeOf(submittedAt))} later`],
    ...(typeof remainingSeconds === 'number' ? [['time left', `${spanText(remainingSeconds * 1000)} after it is resumed`]] : []),
    ...(failureCount ? [['failures', String(failureCount)]] : []),
    ...(fault
      ? [
          [
            'fault',
            [fault.type, ...(fault.source ? [`at ${fault.source}`] : []), ...(fault.message ? [`(${fault.message})`] : [])].join(' '),
          ],
        ]
      : []),
  ];
  const lines = facts.map(([name = '', value = '']) => `${paint('dim', name.padEnd(10))}  ${printable(value)}\n`);
  const rows = steps.map((step) => [
    step.name,
    `${step.agent}.${step.operation}`,
    statusText(step, order),
    String(step.attempts),
    durationOf(step),
  ]);
  return `${paint('bold', printable(orderId))}\n${lines.join('')}${rows.length > 0 ? `\n${table(['step', 'operation', 'status', 'attempts', 'took'], rows, paint)}` : ''}`;
}

const durationOf = ({ startedAt, closedAt }: StepView): string =>
  startedAt && closedAt ? spanText(timeOf(closedAt) - timeOf(startedAt)) : '';
