import type { CliCommand } from '#cli/command';
import { resolveTaskId, type TaskView, taskPath, taskText } from '#cli/tasks';

/** Shows one task. */
export const taskShow: CliCommand<object> = {
  name: 'task show',
  summary: 'Show a task of people; of an order without an open one, the newest that is resolved',
  declare: (command) => command.argument('<id>', 'the id of the task or of its order, or its beginning'),

  async run(cli, _, [id = '']) {
    const { body } = await (await cli.api('viewer')).call<TaskView>('GET', taskPath(await resolveTaskId(cli, id, { alsoResolved: true })));
    cli.print(body, () => taskText(body));
    return undefined;
  },
};
