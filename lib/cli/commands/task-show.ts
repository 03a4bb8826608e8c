import type { CliCommand } from '#cli/command';
import { resolveTaskId, type TaskView, taskPath, taskText } from '#cli/tasks';
import { printable } from '#cli/text';

/** Shows one task. */
export const taskShow: CliCommand<object> = {
  name: 'task show',
  summary: 'Show a task; for an order, its open task or the newest resolved one',
  declare: (command) => command.argument('<id>', 'the id of the task or of its order, or its beginning'),

  async run(cli, _, [id = '']) {
    const { body } = await (await cli.api('viewer')).call<TaskView>('GET', taskPath(await resolveTaskId(cli, id, { alsoResolved: true })));
    cli.print(body, () => taskText(body));
    if (!cli.json && body.state !== 'resolved') for (const line of nextSteps(body)) cli.terminal.say(line);
    return undefined;
  },
};

/** Returns what a person may do next about an open task. */
function nextSteps({ id, kind, orderId }: TaskView): readonly string[] {
  if (orderId === undefined)
    return [
      'To see where messages go: redress group list. To send them elsewhere: redress group put --help',
      `When messages arrive again, the task ends by itself. If nobody needs that destination any more: redress task resolve ${printable(id)} acknowledge --reason '…'`,
    ];
  const wanted = kind === 'question' ? `resubmit --fields '{"answer": …}'` : 'KIND';
  return [
    `To see the order and its steps: redress order get ${printable(orderId)}`,
    `To check a resolution: redress task resolve ${printable(id)} ${wanted} --dry-run. The kinds: redress task resolve --help`,
  ];
}
