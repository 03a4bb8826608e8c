import { carryOutHint } from './carry-out-hint.ts';
import { notesOn } from './check-notes.ts';
import { type CheckView, checkText } from './check-text.ts';
import type { Cli } from './command.ts';
import { FailedError, UsageError } from './errors.ts';
import { finalKinds } from './final-kinds.ts';
import { assertOneOrMany, type ForMany, giveToMany } from './for-many.ts';
import type { Api } from './http.ts';
import { resumeHint } from './next-steps.ts';
import { reasonFor } from './options.ts';
import { type OrderView, orderPath, resolveOrderId } from './orders.ts';
import { printable } from './text.ts';

/** The options that every instruction has. */
export interface InstructionOptions extends ForMany {
  readonly reason?: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** An instruction to an order, without its reason. */
export interface GivenInstruction {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The call that carries out an instruction, or only checks it. */
interface Target {
  readonly api: Api;
  readonly orderId: string;
  /** The ETag of the order that the person has seen. */
  readonly etag: string;
  /** The path that the instruction is posted to. */
  readonly path: string;
  readonly bodyOf: (instruction: GivenInstruction) => object;
  /** The order as the person has seen it. */
  readonly order?: OrderView;
  readonly wasSuspended?: boolean;
  /** The task that the instruction resolves. */
  readonly taskId?: string;
}

/**
 * Gives an instruction to an order, or shows its check; with `--all`, to many orders. The API refuses the instruction if the order has
 * changed since this command read the order. The person confirms an instruction that cannot be taken back.
 */
export async function giveInstruction(
  cli: Cli,
  given: string,
  instruction: GivenInstruction | ((order: OrderView) => GivenInstruction),
  options: InstructionOptions,
): Promise<number | undefined> {
  assertOneOrMany(given, options);
  reasonFor(options);
  if (options.all && typeof instruction === 'function')
    throw new UsageError('--set changes the input of one order. For many orders, give the whole input with --data.');
  if (options.all) return giveToMany(cli, instruction as GivenInstruction, options);
  const api = await cli.api('operator');
  const path = orderPath(await resolveOrderId(api, given));
  const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
  const target = {
    api,
    orderId: order.orderId,
    order,
    wasSuspended: order.suspended === true,
    etag,
    path: `${path}/instructions`,
    bodyOf: (body: GivenInstruction) => body,
  };
  return carryOut(cli, target, typeof instruction === 'function' ? instruction(order) : instruction, options);
}

/** Posts an instruction to the path of its target, or shows its check. Resolves with the exit code. */
export async function carryOut(
  cli: Cli,
  { api, orderId, order, wasSuspended, etag, path, bodyOf, taskId }: Target,
  instruction: GivenInstruction,
  options: InstructionOptions,
): Promise<number | undefined> {
  const { dryRun, yes } = options;
  const reason = reasonFor(options);
  const headers = { 'if-match': etag };
  const checked = async () =>
    (await api.call<CheckView>('POST', path, { body: { ...bodyOf(instruction), reason, dryRun: true }, headers })).body;
  if (dryRun) {
    const check = await checked();
    cli.print(check, () => checkText(check, cli.paint, notesOn(instruction, check, order)));
    if (check.feasible) sayHowToCarryOut(cli, finalKinds.has(instruction.kind));
    return check.feasible ? undefined : 1;
  }
  if (finalKinds.has(instruction.kind) && !yes) await askToConfirm(cli, instruction, checked, order);
  const { body } = await api.call('POST', path, { body: { ...bodyOf(instruction), reason }, headers });
  cli.print(body, () => '');
  cli.terminal.say(`Accepted. ${await nextCommand(api, orderId, wasSuspended)}`);
  if (taskId !== undefined) cli.terminal.say(`To see later whether it helped: redress task show ${printable(taskId)}`);
  return undefined;
}

/** Returns what a person may do after an instruction. An order that stays suspended does nothing that could be followed. */
async function nextCommand(api: Api, orderId: string, wasSuspended = false): Promise<string> {
  const isSuspended = wasSuspended && (await api.call<OrderView>('GET', orderPath(orderId))).body.suspended;
  return isSuspended
    ? `The order stays suspended. ${resumeHint(orderId)}`
    : `To follow the order: redress order watch ${printable(orderId)}`;
}

/**
 * Shows the check of an instruction, and asks the person to confirm.
 *
 * @throws FailedError if the person says no, or if the instruction is infeasible.
 * @throws UsageError if nobody can be asked.
 */
export async function askToConfirm(
  cli: Cli,
  instruction: GivenInstruction,
  checked: () => Promise<CheckView>,
  order?: OrderView,
): Promise<void> {
  const { kind } = instruction;
  assertAsks(cli, `${kind} cannot be taken back. Look at it with --dry-run, and confirm it with --yes.`);
  const check = await checked();
  cli.terminal.say(checkText(check, cli.paint, notesOn(instruction, check, order)));
  if (!check.feasible || !(await cli.terminal.confirm(`${kind} cannot be taken back. Go on?`)))
    throw new FailedError('Nothing was changed.');
}

/** Says how to carry out the instruction whose check was shown. */
export function sayHowToCarryOut(cli: Cli, isFinal: boolean): void {
  if (!cli.json) cli.terminal.say(carryOutHint(cli, isFinal));
  if (isFinal) cli.terminal.say(cli.json ? 'This cannot be taken back: add --yes.' : 'This cannot be taken back.');
}

/** Refuses to go on without `--yes` where nobody can be asked: in a script, and with `--json`. */
export function assertAsks(cli: Pick<Cli, 'terminal' | 'json'>, otherwise: string): void {
  if (!cli.terminal.canAsk || cli.json) throw new UsageError(otherwise);
}
