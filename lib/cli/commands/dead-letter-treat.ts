import type { Command } from 'commander';
import type { Cli, CliCommand } from '#cli/command';
import { declareFilter, filterOf, type MessageFilter, messagePath, treatAll } from '#cli/dead-letters';
import { UsageError } from '#cli/errors';
import { reasonFor, reasonHelp, textOption } from '#cli/options';
import { readData } from '#cli/submission-file';
import { printable, table } from '#cli/text';

interface Options extends MessageFilter {
  reason?: string;
  all?: true;
  dryRun?: true;
}

interface ResubmitOptions extends Options {
  data?: string;
  again?: true;
}

const declareTreatment = (command: Command): Command =>
  declareFilter(
    command
      .argument('<channel>', 'channel of the message')
      .argument('[id]', 'message id; without it, use filters or --all')
      .option('--reason <text>', reasonHelp, textOption)
      .option('--dry-run', 'show the outcome without changing anything')
      .option('--all', 'all messages of the channel'),
  );

/** Sends dead letters to their queues again. */
export const deadLetterResubmit: CliCommand<ResubmitOptions> = {
  name: 'dead-letter resubmit',
  summary: 'Send dead letters to their queues again',
  sendsData: true,
  declare: (command) =>
    declareTreatment(command)
      .option('--data <json>', 'new message body: JSON, @file, or @- for standard input')
      .option('--again', 'send it even if an interrupted attempt may have sent it'),

  async run(cli, { data, again, ...options }, [channel = '', id]) {
    if (id === undefined && data !== undefined)
      throw new UsageError('--data replaces the body of one message. Name the message by its id.');
    const body = data === undefined ? undefined : await readData(data, cli.terminal);
    return treat(cli, 'resubmit', { channel, id, ...options }, { ...(body === undefined ? {} : { body }), ...(again ? { again } : {}) });
  },
};

/** Deletes dead letters. */
export const deadLetterDiscard: CliCommand<Options> = {
  name: 'dead-letter discard',
  summary: 'Delete dead letters',
  declare: declareTreatment,
  run: (cli, options, [channel = '', id]) => treat(cli, 'discard', { channel, id, ...options }, {}),
};

type Wanted = Options & { readonly channel: string; readonly id: string | undefined };
type More = { readonly body?: unknown; readonly again?: true };

async function treat(cli: Cli, action: 'resubmit' | 'discard', wanted: Wanted, more: More): Promise<number | undefined> {
  const { channel, id, reason: _, all, dryRun = false, ...given } = wanted;
  const reason = reasonFor(wanted);
  const filter = filterOf(given);
  if ((id === undefined) === (all === undefined && Object.keys(filter).length === 0))
    throw new UsageError('Name either one message by its id, or several by filters or --all.');
  if (id === undefined) return treatMany(cli, channel, { filter, action, reason, dryRun, ...(more.again ? { again: more.again } : {}) });
  const api = await cli.api('operator');
  const body = { reason, dryRun, ...more };
  const { body: answer } = await (action === 'resubmit'
    ? api.call<{ orderId: string | null }>('POST', messagePath(channel, id, '/resubmit'), { body })
    : api.call<{ orderId: string | null }>('DELETE', messagePath(channel, id), { body }));
  cli.print(answer, () => '');
  if (dryRun) cli.terminal.say('This is possible. Nothing was changed.');
  else cli.terminal.say(action === 'discard' ? 'Discarded.' : `Sent. ${answer.orderId ? followed(answer.orderId) : ''}`.trim());
  return undefined;
}

const followed = (orderId: string): string => `To follow the order: redress order watch ${printable(orderId)}`;

/** Treats all matching messages; resolves with exit code 1 if any of them was refused. */
async function treatMany(cli: Cli, channel: string, treatment: Parameters<typeof treatAll>[2]): Promise<number | undefined> {
  const items = await treatAll(await cli.api('operator'), channel, treatment);
  const rows = items.map(({ id, type, outcome, errors }) => [
    id,
    type ?? '',
    outcome,
    errors.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; '),
  ]);
  cli.print({ items }, () => (rows.length > 0 ? table(['message', 'type', treatment.action, ''], rows, cli.paint) : ''));
  if (!cli.json && items.length === 0) cli.terminal.say('No dead letters match.');
  return items.every(({ outcome }) => outcome === 'done' || outcome === 'possible') ? undefined : 1;
}
