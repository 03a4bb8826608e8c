import { type CheckView, checkText } from '#cli/check-text';
import type { CliCommand } from '#cli/command';
import { assertOneOrMany, declareInstruction } from '#cli/for-many';
import { giveInstruction, type InstructionOptions, sayHowToCarryOut } from '#cli/instruction';
import { reasonFor } from '#cli/options';
import { type OrderView, onlyStuck, orderPath, resolveOrderId, type Time } from '#cli/orders';
import { printable, spanText } from '#cli/text';

/** The part of a dry run's answer that only these two instructions have. */
interface Plan {
  readonly requests?: readonly { readonly path: string }[];
  readonly completeBy?: Time | null;
  readonly remainingSeconds?: number | null;
}

const suspendOrResume = (kind: 'suspend' | 'resume', summary: string): CliCommand<InstructionOptions> => ({
  name: `order ${kind}`,
  summary,
  declare: (command) => declareInstruction(command),

  async run(cli, options, [id = '']) {
    const { dryRun } = options;
    if (options.all) return giveInstruction(cli, id, { kind }, options);
    assertOneOrMany(id, options);
    const reason = reasonFor(options);
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
    const body = { kind, reason, ...(dryRun ? { dryRun } : {}) };
    const { body: answer } = await api.call<Plan & CheckView>('POST', `${path}/instructions`, { body, headers: { 'if-match': etag } });
    const isRefused = dryRun === true && !answer.feasible;
    cli.print(answer, () =>
      isRefused ? checkText(answer, cli.paint) : dryRun ? `${planText(answer, order)}${undoTexts[kind](answer, order)}` : '',
    );
    if (isRefused) return 1;
    if (dryRun) sayHowToCarryOut(cli, false);
    else cli.terminal.say(`Accepted. To see the order: redress order get ${printable(order.orderId)}`);
    return undefined;
  },
});

/** The text of each instruction about the undos that are left, in the sequence in which they run. */
const undoTexts = {
  suspend: ({ whenResumed }: CheckView, { undo }: OrderView): string =>
    undo ? `Its undo would stop. Still to be undone: ${pathsOf(whenResumed)}.\n` : '',
  resume: ({ effects: { undoes } }: CheckView, { undo }: OrderView): string => {
    if (!undo) return '';
    const failed = onlyStuck(undo) ? [] : undoes.filter(({ path }) => undo.stuck.some((each) => each.path === path));
    const again = failed.length === 0 ? '' : ` Requested again, because it has failed: ${pathsOf(failed)}.`;
    return undoes.length === 0 ? 'Nothing is left to undo.\n' : `Its undo would go on: ${pathsOf(undoes)}.${again}\n`;
  },
};

const pathsOf = (steps: CheckView['whenResumed']): string => steps.map(({ path }) => printable(path)).join(', ');

function planText({ requests = [], completeBy, remainingSeconds }: Plan, { undo }: OrderView): string {
  const sent =
    requests.length === 0
      ? 'The order would send no requests at once'
      : `The order would send requests for ${requests.map(({ path }) => printable(path)).join(', ')}`;
  const stuck = onlyStuck(undo);
  if (typeof remainingSeconds === 'number') {
    const left = spanText(remainingSeconds * 1000);
    if (stuck !== undefined) return `${sent}. The undo of ${stuck} would be requested again ${left} after the order is resumed.\n`;
    return `${sent}. Its deadlines would stop, with ${left} left.\n`;
  }
  if (!completeBy) return `${sent}.\n`;
  const at = new Date(completeBy).toISOString();
  return stuck === undefined
    ? `${sent}. Its running steps would have until ${at}.\n`
    : `${sent}. The undo of ${stuck}, which has failed, would be requested again at ${at}.\n`;
}

export const orderSuspend = suspendOrResume('suspend', 'Suspend an order: its work, its undo and its deadlines stop');
export const orderResume = suspendOrResume('resume', 'Resume a suspended order, and its undo, with the remaining time');
