import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { textOption, wholeOption } from '#cli/options';
import { listed, resolveOrderId } from '#cli/orders';
import { type TaskView, tasksText } from '#cli/tasks';
import { taskKinds, taskStates } from '#ports/tasks';

interface Options {
  readonly state?: string;
  readonly assignee?: string;
  readonly mine?: true;
  readonly group?: string;
  readonly workflow?: string;
  readonly kind?: string;
  readonly fingerprint?: string;
  readonly order?: string;
  readonly overdue?: true;
  readonly limit: number;
}

/** Lists the tasks of people. */
export const taskList: CliCommand<Options> = {
  name: 'task list',
  summary: 'List the tasks of people by the time at which they are due',
  declare: (command) =>
    command
      .addOption(new Option('--state <state>', 'default: open and claimed').choices(taskStates))
      .option('--mine', 'only tasks that you have claimed')
      .option('--assignee <sub>', 'only tasks that this person has claimed; none: tasks that nobody has claimed', textOption)
      .option('--group <name>', 'only tasks of this group; mine: of the groups in your token', textOption)
      .option('--workflow <name>', 'only tasks of this workflow', textOption)
      .addOption(new Option('--kind <kind>', 'only tasks of this kind').choices(taskKinds))
      .option('--fingerprint <text>', 'only tasks of exceptions with this fingerprint', textOption)
      .option('--order <id>', 'only tasks of this order: its id, or the beginning of it', textOption)
      .option('--overdue', 'only tasks whose time is over')
      .option('--limit <number>', 'list at most this many tasks', wholeOption(1, 100_000), 100),

  async run(cli, { limit, order, overdue, mine, assignee, state, group, workflow, kind, fingerprint }) {
    const person = mine ? 'me' : assignee;
    const api = await cli.api('viewer');
    const orderId = order === undefined ? undefined : await resolveOrderId(api, order);
    const filter = { state, assignee: person, group, workflow, kind, fingerprint, orderId, overdue: overdue ? 'true' : undefined };
    const items = await listed<TaskView>(api, '/tasks', filter, limit);
    cli.print({ items }, () => tasksText(items, cli));
    if (!cli.json && items.length === 0) cli.terminal.say('No tasks match.');
    return undefined;
  },
};
