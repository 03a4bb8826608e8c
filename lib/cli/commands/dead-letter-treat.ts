import type { Command } from 'commander';
import type { Cli, CliCommand } from '#cli/command';
import { declareFilter, filterOf, type MessageFilter, messagePath, treatAll } from '#cli/dead-letters';
import { UsageError } from '#cli/errors';
import { textOption } from '#cli/options';
import { readData } from '#cli/submission-file';
import { printable, table } from '#cli/text';

interface Options extends MessageFilter {
  reason: string;
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
      .argument('<channel>', 'where it was dead-lettered')
      .argument('[id]', 'the message; without it, those that the filters name, or --all')
      .requiredOption('--reason <text>', 'why; kept in the history', textOption)
      .option('--dry-run', 'shows what would happen, and changes nothing')
      .option('--all', 'every message of the channel'),
  );

/** Sends messages that nobody could process once more. */
export const deadLetterResubmit: CliCommand<ResubmitOptions> = {
  name: 'dead-letter resubmit',
  summary: 'sends a message that nobody could process once more, as it is or mended',
  sendsData: true,
  declare: (command) =>
    declareTreatment(command)
      .option('--data <json>', 'the message in place of its own: JSON, @file, or @- for the input')
      .option('--again', 'also where it is not known whether it was sent before'),

  async run(cli, { data, again, ...options }, [channel = '', id]) {
    if (id === undefined && data !== undefined) throw new UsageError('--data mends one message: say which.');
    const body = data === undefined ? undefined : await readData(data, cli.terminal);
    return treat(cli, 'resubmit', { channel, id, ...options }, { ...(body === undefined ? {} : { body }), ...(again ? { again } : {}) });
  },
};

/** Gives up messages that nobody could process. */
export const deadLetterDiscard: CliCommand<Options> = {
  name: 'dead-letter discard',
  summary: 'gives up a message that nobody could process',
  declare: declareTreatment,
  run: (cli, options, [channel = '', id]) => treat(cli, 'discard', { channel, id, ...options }, {}),
};

type Wanted = Options & { readonly channel: string; readonly id: string | undefined };
type More = { readonly body?: unknown; readonly again?: true };

async function treat(cli: Cli, action: 'resubmit' | 'discard', wanted: Wanted, more: More): Promise<number | undefined> {
  const { channel, id, reason, all, dryRun = false, ...given } = wanted;
  const filter = filterOf(given);
  if ((id === undefined) === (all === undefined && Object.keys(filter).length === 0))
    throw new UsageError('Name one message, or give filters, or --all.');
  if (id === undefined) return treatMany(cli, channel, { filter, action, reason, dryRun, ...(more.again ? { again: more.again } : {}) });
  const api = await cli.api('operator');
  const body = { reason, dryRun, ...more };
  const { body: answer } = await (action === 'resubmit'
    ? api.call<{ orderId: string | null }>('POST', messagePath(channel, id, '/resubmit'), { body })
    : api.call<{ orderId: string | null }>('DELETE', messagePath(channel, id), { body }));
  cli.print(answer, () => '');
  if (dryRun) cli.terminal.say('It could be done. Nothing was changed.');
  else cli.terminal.say(action === 'discard' ? 'Discarded.' : `Sent. ${answer.orderId ? followed(answer.orderId) : ''}`.trim());
  return undefined;
}

const followed = (orderId: string): string => `See what becomes of it: redress order watch ${printable(orderId)}`;

/** Exit code 1 where something was left as it was. */
async function treatMany(cli: Cli, channel: string, treatment: Parameters<typeof treatAll>[2]): Promise<number | undefined> {
  const items = await treatAll(await cli.api('operator'), channel, treatment);
  const rows = items.map(({ id, type, outcome, errors }) => [
    id,
    type ?? '',
    outcome,
    errors.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; '),
  ]);
  cli.print({ items }, () => (rows.length > 0 ? table(['message', 'type', treatment.action, ''], rows, cli.paint) : ''));
  if (!cli.json && items.length === 0) cli.terminal.say('There are no such messages.');
  return items.every(({ outcome }) => outcome === 'done' || outcome === 'possible') ? undefined : 1;
}
