import { confirm } from '@clack/prompts';
import { type CheckView, checkText } from './check-text.ts';
import type { Cli } from './command.ts';
import { FailedError, UsageError } from './errors.ts';
import { type OrderView, orderPath, resolveOrderId } from './orders.ts';
import { printable } from './text.ts';

/** The options that every instruction has. */
export interface InstructionOptions {
  readonly reason: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** An instruction to an order, without its reason. */
export interface GivenInstruction {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** Gives an instruction to an order as it was read, or shows its check. The person confirms before a command that cannot be taken back. */
export async function giveInstruction(
  cli: Cli,
  given: string,
  instruction: GivenInstruction,
  { reason, dryRun, yes, isFinal = false }: InstructionOptions & { readonly isFinal?: boolean },
): Promise<number | undefined> {
  const api = await cli.api('operator');
  const path = orderPath(await resolveOrderId(api, given));
  const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
  const checked = async () =>
    (
      await api.call<CheckView>('POST', `${path}/instructions`, {
        body: { ...instruction, reason, dryRun: true },
        headers: { 'if-match': etag },
      })
    ).body;
  if (dryRun) {
    const check = await checked();
    cli.print(check, () => checkText(check, cli.paint));
    return check.feasible ? undefined : 1;
  }
  if (isFinal && !yes) await askFirst(cli, instruction.kind, await checked());
  const { body } = await api.call('POST', `${path}/instructions`, { body: { ...instruction, reason }, headers: { 'if-match': etag } });
  cli.print(body, () => '');
  cli.terminal.say(`Accepted. To follow the order: redress order watch ${printable(order.orderId)}`);
  return undefined;
}

/** Shows the check, and asks the person to confirm; rejects if they do not, or cannot be asked. */
async function askFirst(cli: Cli, kind: string, check: CheckView): Promise<void> {
  if (!cli.terminal.canAsk || cli.json)
    throw new UsageError(`${kind} cannot be taken back. Look at it with --dry-run, and confirm it with --yes.`);
  cli.terminal.say(checkText(check, cli.paint));
  const sure = check.feasible ? await confirm({ message: 'Go on?', initialValue: false, output: process.stderr }) : false;
  if (sure !== true) throw new FailedError('Nothing was changed.');
}
