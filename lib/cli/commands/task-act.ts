import type { Command } from 'commander';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { textOption } from '#cli/options';
import { resolveTaskId, type TaskView, taskPath, taskText } from '#cli/tasks';

interface Options {
  readonly to?: string;
  readonly group?: string;
  readonly text?: string;
}

interface Acting {
  readonly action: string;
  readonly summary: string;
  readonly options?: (command: Command) => Command;
  readonly body?: (options: Options) => object;
}

const acting = ({ action, summary, options = (command) => command, body }: Acting): CliCommand<Options> => ({
  name: `task ${action}`,
  summary,
  declare: (command) => options(command.argument('<id>', 'the id of the task or of its order, or its beginning')),

  async run(cli, given, [id = '']) {
    const content = body?.(given);
    const path = taskPath(await resolveTaskId(cli, id));
    const { body: task } = await (await cli.api('operator')).call<TaskView>('POST', `${path}/${action}`, content ? { body: content } : {});
    cli.print(task, () => taskText(task));
    return undefined;
  },
});

export const taskClaim = acting({ action: 'claim', summary: 'Claim a task: nobody else works on it' });
export const taskRelease = acting({ action: 'release', summary: 'Release a task that you have claimed' });
export const taskAssign = acting({
  action: 'assign',
  summary: 'Assign a task to a person or a group',
  options: (command) =>
    command
      .option('--to <sub>', 'the person, who has then claimed it', textOption)
      .option('--group <name>', 'the group; without --to, the task is open to all people of the group', textOption),
  body({ to, group }) {
    if (to === undefined && group === undefined) throw new UsageError('Give a person with --to, or a group with --group.');
    return { ...(to === undefined ? {} : { assignee: to }), ...(group === undefined ? {} : { group }) };
  },
});
export const taskComment = acting({
  action: 'comment',
  summary: 'Add a comment to a task',
  options: (command) => command.requiredOption('--text <text>', 'the comment', textOption),
  body: ({ text }) => ({ text }),
});
