import { changesBetween } from './changes.ts';
import type { Cli } from './command.ts';
import { followOrder } from './follow.ts';
import type { Api } from './http.ts';
import { resumeHint } from './next-steps.ts';
import { questionType } from './orders.ts';
import { printable } from './text.ts';

/** Prints each change of an order until it has ended; resolves with 0 if it completed, else 1. With `--json`, prints only its last state. */
export async function watch(cli: Cli, api: Api, orderId: string): Promise<number> {
  const { terminal, json } = cli;
  const tell = json ? terminal.say : (line: string) => terminal.write(`${line}\n`);
  const order = await followOrder(api, orderId, {
    seen(after, before) {
      for (const line of changesBetween(before, after)) tell(printable(line));
      // The API shows a client, which cannot resume the order, no word about an undo.
      if (after.suspended && !before?.suspended && after.undoing !== undefined) terminal.say(resumeHint(orderId));
    },
    lost: ({ message }) => terminal.say(`${printable(message)} Retrying...`),
  });
  if (json) cli.print(order, () => '');
  if (order?.fault?.type === questionType) terminal.say(`Answer the question: redress order answer ${orderId} --data JSON`);
  else if (order?.processState === 'Error') terminal.say(`To see why, and what may be done: redress order get ${orderId}`);
  return order?.outcome === 'completed' ? 0 : 1;
}
