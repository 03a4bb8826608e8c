import { type CheckView, checkText } from '#cli/check-text';
import type { Cli, CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import type { Api } from '#cli/http';
import { carryOut, type InstructionOptions } from '#cli/instruction';
import { fieldsHelp } from '#cli/instruction-fields';
import { fieldsIn, reasonFor, reasonHelp, textOption } from '#cli/options';
import { type OrderView, orderPath } from '#cli/orders';
import { chosenWork, parameterOption, type SolutionOptions } from '#cli/solutions';
import { resolveTaskId, type TaskView, taskPath } from '#cli/tasks';

interface Options extends InstructionOptions, SolutionOptions {
  readonly fields?: string;
  readonly saveAs?: string;
  readonly appliesWhen?: string;
}

/** Resolves a task with an instruction to its order. The write of the order closes the task. */
export const taskResolve: CliCommand<Options> = {
  name: 'task resolve',
  summary: 'Resolve a task with an instruction to its order, or with a solution',
  declare: (command) =>
    command
      .argument('<id>', 'the id of the task or of its order, or its beginning')
      .argument('[kind]', 'kind of the instruction: resubmit, skip, replace-input, …; not with --solution')
      .option('--reason <text>', reasonHelp, textOption)
      .option('--fields <json>', 'fields of the instruction, as listed below: JSON, @file, or @- for standard input', textOption)
      .option('--solution <id>', 'a solution in place of an instruction; task show suggests some', textOption)
      .option('--parameter <name=value>', 'the value of a parameter of the solution; may be given again', parameterOption)
      .option('--save-as <name>', 'keep the instruction as a solution, without the values of this order', textOption)
      .option('--applies-when <cel>', 'the tasks for which the kept solution is suggested: exception.type == "CardDeclined"', textOption)
      .option('--dry-run', 'show the check without changing anything')
      .option('--yes', 'do not ask before a resolution that cannot be taken back')
      .addHelpText('after', () => `\n${fieldsHelp()}`),

  async run(cli, { saveAs, appliesWhen, ...options }, [id = '', given = '']) {
    if (appliesWhen !== undefined && saveAs === undefined) throw new UsageError('--applies-when goes with --save-as.');
    const api = await cli.api('operator');
    reasonFor(options);
    const { fields: text, ...others } = options;
    const fields = text === undefined ? undefined : await fieldsIn(text, cli.terminal);
    const { kind, body } = await chosenWork(api, given, { ...others, ...(fields ? { fields } : {}) });
    const taskId = await resolveTaskId(cli, id);
    const path = taskPath(taskId);
    const { body: task } = await api.call<TaskView>('GET', path);
    if (task.orderId === undefined) return ofDestination(cli, { api, path: `${path}/resolve`, body }, options);
    const { body: order, etag = '' } = await api.call<OrderView>('GET', orderPath(task.orderId));
    const kept = saveAs === undefined ? {} : { saveAs: { name: saveAs, ...(appliesWhen === undefined ? {} : { appliesWhen }) } };
    const target = {
      api,
      orderId: task.orderId,
      wasSuspended: order.suspended === true,
      etag,
      path: `${path}/resolve`,
      taskId,
      bodyOf: () => ({ ...body, ...kept }),
    };
    return carryOut(cli, target, { kind }, options);
  },
};

/** Resolves the task of a destination of messages, or shows the check of the resolution. Such a task has no order, and so no ETag. */
async function ofDestination(
  cli: Cli,
  { api, path, body }: { readonly api: Api; readonly path: string; readonly body: object },
  options: Options,
): Promise<number | undefined> {
  const { dryRun = false } = options;
  const { body: answer } = await api.call<CheckView>('POST', path, { body: { ...body, reason: reasonFor(options), dryRun } });
  cli.print(answer, () => (dryRun ? checkText(answer, cli.paint) : 'The task is resolved. Nothing else has changed.\n'));
  return dryRun && !answer.feasible ? 1 : undefined;
}
