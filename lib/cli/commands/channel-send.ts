import { readFileSync } from 'node:fs';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { printable } from '#cli/text';
import { isQueueName, queueNames } from '#ports/messages';

/** Sends a message to a queue in the data folder, as a sender outside the system does on AWS. */
export const channelSend: CliCommand = {
  name: 'channel send',
  summary: 'Send a message to a queue on this machine',
  declare: (command) =>
    command
      .argument('<name>', 'consumer or queue: expenses, expenses-messages, submissions')
      .argument('<file>', 'file with the JSON of the message'),

  async run(cli, _, [name = '', file = '']) {
    const queue = isQueueName(name) ? name : queueNames.messages(name);
    const body = textIn(file);
    await cli.withData(({ queues }) => queues.send([{ queue, body }]));
    cli.print({ queue }, () => '');
    cli.terminal.say(`The message is on ${printable(queue)}.`);
  },
};

/** Returns the text of a file as it is: the system itself judges a message that is not valid. */
function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}. Check the path.`);
  }
}
