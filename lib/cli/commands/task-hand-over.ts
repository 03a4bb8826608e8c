import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { listed } from '#cli/orders';
import { type TaskView, taskPath, tasksText } from '#cli/tasks';

interface Options {
  readonly text?: string;
  readonly group?: string;
}

/** Releases all tasks that the person has claimed, or assigns them to a group, at the end of a shift. */
export const taskHandOver: CliCommand<Options> = {
  name: 'task hand-over',
  summary: 'Release or assign all tasks that you have claimed',
  declare: (command) =>
    command
      .option('--text <text>', 'a comment on each of the tasks', textOption)
      .option('--group <name>', 'the group that continues with the tasks; default: each task keeps its group', textOption),

  async run(cli, { text, group }) {
    const api = await cli.api('operator');
    const tasks = await listed<TaskView>(api, '/tasks', { assignee: 'me' });
    const handed: TaskView[] = [];
    for (const { id } of tasks) {
      if (text !== undefined) await api.call('POST', `${taskPath(id)}/comment`, { body: { text } });
      const [action, content] = group === undefined ? ['release', {}] : ['assign', { body: { group } }];
      handed.push((await api.call<TaskView>('POST', `${taskPath(id)}/${action}`, content)).body);
    }
    cli.print({ items: handed }, () => tasksText(handed, cli));
    if (!cli.json)
      cli.terminal.say(
        handed.length === 0 ? 'You have claimed no task.' : `${group === undefined ? 'Released' : `Handed to ${group}`}: ${handed.length}.`,
      );
    return undefined;
  },
};
