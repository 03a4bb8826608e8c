import type { CliCommand } from '#cli/command';
import { resolveTaskId, type TaskView, taskPath, taskText } from '#cli/tasks';

/** Shows one task. */
export const taskShow: CliCommand<object> = {
  name: 'task show',
  summary: 'Show a task of people',
  declare: (command) => command.argument('<id>', 'the id of the task or of its order, or its beginning'),

  async run(cli, _, [id = '']) {
    const { body } = await (await cli.api('viewer')).call<TaskView>('GET', taskPath(await resolveTaskId(cli, id)));
    cli.print(body, () => taskText(body));
    return undefined;
  },
};
