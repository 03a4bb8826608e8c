import { ComputeTimeout } from '#authoring/compute-limit';
import type { FunctionErrorListener } from '#authoring/function-errors';
import { engineFaults, shortType } from '#core/data/fault';
import { definitionPath, isUndoPath } from '#core/data/ids';
import { chainOf, comparable, isError, reasonOf } from '#core/data/thrown';
import { withoutTexts } from '#core/definition/secrets';
import { type FaultEnd, faultPathOf } from '#core/views/fault-paths';
import type { Definitions } from '#ports/definitions';
import type { Store } from '#ports/store';
import { printable } from '#ports/util/text';
import type { Result } from '#roles/agent/results';
import type { Trouble } from '#roles/agent/trouble';
import { readableOrder } from '#roles/scheduler/load';
import { secretsOf } from '#roles/scheduler/redaction';
import type { Loaded } from '#roles/scheduler/types';
import { framesOf } from './stack.ts';

export interface TroublePrinterOptions {
  readonly store: Pick<Store, 'load'>;
  readonly definitions: Definitions;
  readonly print: (text: string) => void;
}

/** The most texts that a printer remembers. Then `createTroublePrinter` forgets all, and `functionErrorPrinter` prints no more. */
const rememberedMax = 1_000;

/** Returns a function that shows errors of operations to a developer. It prints the details of an error once, and each consequence once. */
export function createTroublePrinter({ store, definitions, print }: TroublePrinterOptions): (trouble: Trouble) => Promise<void> {
  const printed = new Set<string>();
  const isNew = (key: string): boolean => {
    if (printed.size >= rememberedMax) printed.clear();
    return !printed.has(key) && printed.add(key) !== undefined;
  };

  return async (trouble) => {
    if (isDeclared(trouble)) return;
    const { agent, request } = trouble;
    const cause = `${agent}.${request.operation} ${trouble.what} ${comparable(causeOf(trouble))}`;
    const isFirst = isNew(cause);
    if (!isNew(`${cause} ${followingOf(trouble)}`)) return;
    const loaded = await readableOrder(request.orderId, { store, definitions });
    // Without its order, nobody knows which parts of the text are secret.
    if (!loaded) return print(`warn  ${agent}.${request.operation} failed. Its order ${request.orderId} cannot be read.`);
    const text = [headingOf(trouble), ...(isFirst ? detailsOf(trouble) : []), placeOf(trouble), nextOf(trouble, loaded)].join('\n      ');
    print(printableLines(withoutTexts(`warn  ${text}`, [...trouble.secrets, ...secretsOf(loaded)])));
  };
}

/**
 * Returns a listener that shows exceptions of functions inside the engine, each place once. It omits the message: nobody knows the order
 * here, so nobody knows which parts are secret. The order's history has the message.
 */
export function functionErrorPrinter(print: (text: string) => void): FunctionErrorListener {
  const printed = new Set<string>();
  return (where, error) => {
    const name = isError(error) ? error.name : typeof error;
    const text = [
      error instanceof ComputeTimeout
        ? `warn  ${where} was stopped. ${error.message}`
        : `warn  ${where} threw ${name}. The history of its order has the message.`,
      ...framesOf(error).map((frame) => `    ${frame}`),
    ];
    const key = text.join('\n      ');
    if (printed.has(key) || printed.size >= rememberedMax) return;
    printed.add(key);
    print(printableLines(key));
  };
}

/** Whether an operation threw a fault that it declares: a handler of the workflow expects it. */
function isDeclared(trouble: Trouble): boolean {
  const fault = trouble.what === 'threw' && trouble.next.does === 'replies' ? faultIn(trouble.next.result) : undefined;
  return (trouble.operation.faults ?? []).some(({ name }) => name === fault?.type);
}

const faultIn = (result: Result) => (result.status === 'failed' ? result.fault : undefined);

function causeOf(trouble: Trouble): string {
  if (trouble.what === 'threw' || trouble.what === 'failed to cancel') return reasonOf(trouble.error);
  return trouble.what === 'was refused' ? (faultIn(trouble.result)?.message ?? '') : '';
}

/** Returns the consequence of an error without times, so that the same consequence of an error is printed once. */
function followingOf(trouble: Trouble): string {
  if (trouble.what !== 'threw') return '';
  return trouble.next.does === 'replies' ? `replies ${faultIn(trouble.next.result)?.type}` : trouble.next.does;
}

function headingOf(trouble: Trouble): string {
  const name = `${trouble.agent}.${trouble.request.operation}`;
  switch (trouble.what) {
    case 'threw':
      return `${trouble.in === 'lookup' ? `the lookup of ${name}` : name} threw ${causeOf(trouble)}`;
    case 'failed to cancel':
      return `the cancel of ${name} threw ${causeOf(trouble)}`;
    case 'was refused':
      return `${name}: ${causeOf(trouble)}`;
    case 'was silent':
      return `${name} gave no answer in time (${Math.round(trouble.request.remainingMs / 1000)} s)`;
  }
}

/** Returns the stack of an error and of its causes. */
function detailsOf(trouble: Trouble): readonly string[] {
  if (trouble.what !== 'threw' && trouble.what !== 'failed to cancel') return [];
  const [error, ...causes] = chainOf(trouble.error);
  const frames = (of: unknown) => framesOf(of).map((frame) => `    ${frame}`);
  // The heading names the causes already.
  const withPlace = causes.filter((cause) => framesOf(cause).length > 0);
  return [...frames(error), ...withPlace.flatMap((cause) => [`caused by ${reasonOf(cause)}`, ...frames(cause)])];
}

const placeOf = ({ request: { orderId, path, attempt } }: Trouble): string => `order ${orderId}, step ${path}, attempt ${attempt}`;

function nextOf(trouble: Trouble, loaded: Loaded): string {
  if (trouble.what === 'failed to cancel') return 'The agent waits for the operation to end.';
  if (trouble.what === 'was silent') return silenceText(trouble, loaded);
  if (trouble.what === 'was refused') return faultText(trouble, trouble.result, loaded);
  const { next } = trouble;
  if (next.does === 'tries again')
    return `The agent tries again ${next.pauseMs < 100 ? 'at once' : `in ${(next.pauseMs / 1000).toFixed(1)} s`}.`;
  return next.does === 'replies' ? faultText(trouble, next.result, loaded) : 'The message is delivered again.';
}

/** Returns what follows from a reply with a fault, by the rules of the workflow. */
function faultText(trouble: Trouble, result: Result, loaded: Loaded): string {
  const fault = faultIn(result);
  const { path, confirming } = trouble.request;
  if (confirming || isUndoPath(path))
    return `${confirming ? 'The confirmation' : 'The undo'} is requested again after a pause, until it succeeds.`;
  if (!fault) return '';
  const type = Object.values(engineFaults).find((each) => shortType(each) === fault.type) ?? fault.type;
  const { retries, end } = faultPathOf(loaded.program, definitionPath(path), { type, permanent: fault.permanent }, 'engine');
  if (retries[0]) return `The step fails with ${fault.type}, and ${retries[0].path} runs it again while it has runs left.`;
  return fault.permanent
    ? `The step fails with ${fault.type}: ${endText(end)}.`
    : `The agent does not try again before the deadline. The step is requested again when its time is over. ${afterLateAttempts(loaded, end)}`;
}

function silenceText({ request: { path, confirming } }: Trouble, loaded: Loaded): string {
  if (confirming || isUndoPath(path))
    return `${confirming ? 'The confirmation' : 'The undo'} is requested again after a pause, until it succeeds.`;
  const late = { type: engineFaults.deadlineExceeded, permanent: false };
  const { end } = faultPathOf(loaded.program, definitionPath(path), late, 'engine');
  return `The step is requested again. ${afterLateAttempts(loaded, end)}`;
}

const afterLateAttempts = ({ record: { maxFailures } }: Loaded, end: FaultEnd): string =>
  `After ${maxFailures + 1} late attempts ${endText(end)}.`;

function endText(end: FaultEnd): string {
  switch (end.kind) {
    case 'operator':
      return 'the order is blocked';
    case 'handled':
      return `the handler ${end.handler} takes it`;
    case 'waits':
      return 'the step waits for a long pause and is requested again';
    case 'undone':
      return 'the order is compensated';
  }
}

const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');
