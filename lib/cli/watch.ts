import { changesBetween } from './changes.ts';
import type { Cli } from './command.ts';
import { followOrder } from './follow.ts';
import type { Api } from './http.ts';
import { resumeHint } from './next-steps.ts';
import { type OrderView, questionType } from './orders.ts';
import { printable } from './text.ts';

/**
 * Prints each change of an order until it has ended or is blocked; resolves with the order as it is then. With `--json`, the changes go to
 * standard error, and standard output gets only that order.
 */
export async function watch(cli: Cli, api: Api, orderId: string): Promise<OrderView | undefined> {
  const { terminal, json } = cli;
  const tell = json ? terminal.say : (line: string) => terminal.write(`${line}\n`);
  const order = await followOrder(api, orderId, {
    seen(after, before) {
      for (const line of changesBetween(before, after)) tell(printable(line));
      // The API leaves out `undoing` for a client alone. A client cannot resume the order, so it gets no hint.
      if (after.suspended && !before?.suspended && after.undoing !== undefined) terminal.say(resumeHint(orderId));
    },
    lost: ({ message }) => terminal.say(`${printable(message)} Retrying...`),
  });
  if (json) cli.print(order, () => '');
  if (order?.fault?.type === questionType) terminal.say(`Answer the question: redress order answer ${orderId} --data JSON`);
  else if (order?.processState === 'Error') terminal.say(`To see why, and what may be done: redress order get ${orderId}`);
  return order;
}

/** Whether an order has an end that somebody wanted: it has completed, or a client, its caller or a person has ended it. */
export const hasWantedEnd = ({ processState, outcome, endedBy }: Pick<OrderView, 'processState' | 'outcome' | 'endedBy'>): boolean =>
  processState === 'Processed' && (outcome === 'completed' || outcome === 'canceled' || endedBy !== undefined);
