import type { Command } from 'commander';
import type { CheckView } from '#cli/check-text';
import type { CliCommand } from '#cli/command';
import { assertOneOrMany, declareInstruction } from '#cli/for-many';
import { askToConfirm, giveInstruction, type InstructionOptions } from '#cli/instruction';
import { reasonFor, textOption } from '#cli/options';
import { type OrderView, orderPath, resolveOrderId } from '#cli/orders';
import { printable } from '#cli/text';

interface Options extends InstructionOptions {
  path?: string;
}

/** Creates a command for an instruction. A single cancellation uses a call of its own, because it needs no ETag. */
const ending = (
  name: string,
  summary: string,
  kind: 'cancel' | 'compensate' | 'mark-compensated' | 'terminate',
  more: (command: Command) => Command = (command) => command,
): CliCommand<Options> => ({
  name: `order ${name}`,
  summary,
  declare: (command) => more(declareInstruction(command)),

  async run(cli, { path: place, ...options }, [id = '']) {
    const { dryRun, yes } = options;
    const instruction = { kind, ...(place === undefined ? {} : { path: place }) };
    if (kind !== 'cancel' || dryRun || options.all) return giveInstruction(cli, id, instruction, options);
    assertOneOrMany(id, options);
    const reason = reasonFor(options);
    // A cancellation is right however far the order has come, so it is sent without the ETag of a view.
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const checked = async () =>
      (await api.call<CheckView>('POST', `${path}/instructions`, { body: { ...instruction, reason, dryRun: true } })).body;
    if (!yes) await askToConfirm(cli, instruction, checked);
    const { body } = await api.call<OrderView>('POST', `${path}/cancel`, { body: { reason } });
    cli.print(body, () => '');
    cli.terminal.say(`Accepted. To follow the order: redress order watch ${printable(body.orderId)}`);
    return undefined;
  },
});

export const orderCancel = ending('cancel', 'Cancel an order: undo its completed steps', 'cancel');
export const orderCompensate = ending('compensate', 'Undo the steps of an order in Error, or of one scope', 'compensate', (command) =>
  command.option(
    '--path <scope>',
    'an open scope around the failed step, after which the order continues; default: the whole order',
    textOption,
  ),
);
export const orderTerminate = ending('terminate', 'End an order without undoing anything', 'terminate');
export const orderMarkCompensated = ending('mark-compensated', 'Mark a failing undo as done by hand', 'mark-compensated', (command) =>
  command.option('--path <step>', 'step whose undo fails; required if there are several', textOption),
);
