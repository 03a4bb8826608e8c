import type { CalledSince, Restoring } from '#adapters/aws/dynamodb/restore';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { printable } from '#cli/text';
import { causesIn, countersAfterRestore, withCausesSince } from '#roles/repair/restore';

/** The number of items between two lines of progress. */
const progressEvery = 10_000;

/** Copies a restored table over the table in use. The runbook says what comes before and after: "Restore to a point in time". */
export const restore: CliCommand = {
  name: 'restore',
  summary: 'Copy a restored table over the table in use',
  declare: (command) =>
    command
      .argument('<from>', 'table of DynamoDB that is read: the restored one')
      .argument('<to>', 'table that is written: the one in use. Items with the same key are replaced'),

  async run({ terminal, json, print }, _, [from = '', to = '']) {
    checkNames(from, to);
    // Imported here, because other commands start faster without the AWS SDK.
    const { calledSince, checkTables, copyItems, eraseAgain, openTables } = await import('#adapters/aws/dynamodb/restore');
    const { client, close } = await openTables();
    try {
      const onCopied = progress((items) => terminal.say(`${items} items copied`));
      const restoring = { client, from, to, countersAfter: countersAfterRestore, causesAfter, onCopied };
      await checkTables(restoring);
      const items = await copyItems(restoring);
      const erased = await eraseAgain(restoring);
      if (!json) terminal.write(`${items} items from ${from} to ${to}\n`);
      if (!json && erased > 0) terminal.write(`secrets of ${erased} orders erased again\n`);
      const called: CalledSince[] = [];
      for await (const order of calledSince(restoring)) {
        if (json) called.push(order);
        else terminal.write(lineOf(order));
      }
      if (json) print({ items, from, to, erased, called: called.map((order) => ({ ...order, submittedAt: timeOf(order) })) }, () => '');
    } finally {
      close();
    }
    return 0;
  },
};

const causesAfter: Restoring['causesAfter'] = (restored, inUse) =>
  withCausesSince(restored, 'orderId' in inUse ? inUse : causesIn(inUse, restored), Date.now());

function checkNames(from: string, to: string): void {
  for (const table of [from, to])
    if (!/^[A-Za-z0-9_.-]{3,255}$/.test(table))
      throw new UsageError(`Invalid table name ${printable(table)}: expected 3 to 255 letters, digits, "_", "." and "-".`);
  if (from === to) throw new UsageError(`Expected two tables, the one that is read and the one that is written, got ${from} twice.`);
}

/** Calls `say` each time that the number has risen by `progressEvery` or more. */
function progress(say: (items: number) => void): (items: number) => void {
  let reported = 0;
  return (items) => {
    if (items - reported < progressEvery) return;
    reported = items;
    say(items);
  };
}

const timeOf = ({ submittedAt }: CalledSince): string => new Date(submittedAt).toISOString();
const lineOf = (order: CalledSince): string =>
  `${printable(`${order.orderId} was called since, at ${timeOf(order)}, by ${order.path} of ${order.callerId}`)}\n`;
