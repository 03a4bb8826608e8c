import type { CliCommand } from '#cli/command';
import { carryOut, finalKinds, type GivenInstruction, type InstructionOptions } from '#cli/instruction';
import { fieldsOption, textOption } from '#cli/options';
import { type OrderView, orderPath } from '#cli/orders';
import { resolveTaskId, type TaskView, taskPath } from '#cli/tasks';
import type { JsonObject } from '#core/data/json';

interface Options extends InstructionOptions {
  readonly fields?: JsonObject;
}

/** Resolves a task with an instruction to its order. The write of the order closes the task. */
export const taskResolve: CliCommand<Options> = {
  name: 'task resolve',
  summary: 'Resolve a task with an instruction to its order',
  declare: (command) =>
    command
      .argument('<id>', 'the id of the task or of its order, or its beginning')
      .argument('<kind>', 'kind of the instruction: resubmit, skip, replace-input, …')
      .requiredOption('--reason <text>', 'why; kept with the task and in the history of the order', textOption)
      .option('--fields <json>', 'fields of the instruction as JSON: {"answer": {"approved": true}}', fieldsOption)
      .option('--dry-run', 'show the check without changing anything')
      .option('--yes', 'do not ask before what cannot be taken back'),

  async run(cli, { fields = {}, ...options }, [id = '', kind = '']) {
    const api = await cli.api('operator');
    const path = taskPath(await resolveTaskId(cli, id));
    const { body: task } = await api.call<TaskView>('GET', path);
    const { etag = '' } = await api.call<OrderView>('GET', orderPath(task.orderId));
    const bodyOf = (instruction: GivenInstruction) => ({ instruction });
    const target = { api, orderId: task.orderId, etag, path: `${path}/resolve`, bodyOf };
    return carryOut(cli, target, { ...fields, kind }, { ...options, confirming: finalKinds.has(kind) ? 'everybody' : undefined });
  },
};
