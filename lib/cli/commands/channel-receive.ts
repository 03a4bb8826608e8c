import { bodiesAtRest } from '#adapters/sqlite/bodies-at-rest';
import type { Embedded } from '#adapters/sqlite/open';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { secondsOption } from '#cli/options';
import { printable } from '#cli/text';
import { systemClock } from '#ports/clock';
import type { Received } from '#ports/queues';
import { jsonIn } from '#ports/util/json';

/** Whether the system itself consumes a queue. The system would never get a message that this command has deleted from it. */
const isConsumedBySystem = (queue: string): boolean =>
  /-(requests|replies|messages|dead)$/.test(queue) || queue === 'wake-ups' || queue === 'submissions';

const batch = 10;
const visibilityMs = 30_000;
const lookEveryMs = 50;

interface Message {
  readonly messageId: string;
  readonly sentAt: number;
  readonly body: string;
}

/** Prints and deletes the messages of a queue in the data folder, such as a client's response queue. */
export const channelReceive: CliCommand<{ wait: number; keep?: true }> = {
  name: 'channel receive',
  summary: 'Print and delete the messages of a queue',
  declare: (command) =>
    command
      .argument('<name>', 'queue: redress-response-acme')
      .option('--wait <seconds>', 'time to wait for the first message', secondsOption, 0)
      .option('--keep', 'do not delete the messages'),

  async run(cli, { wait, keep }, [queue = '']) {
    if (isConsumedBySystem(queue) && !keep)
      throw new UsageError(`The system itself consumes ${queue}. Use --keep to read it without deleting.`);
    const show = (messages: readonly Message[]): void => {
      if (!cli.json) for (const { body } of messages) cli.terminal.write(`${printable(body)}\n`);
      else cli.print({ items: messages.map(shown) }, () => '');
    };
    await cli.withData((embedded) =>
      keep ? look(embedded, queue, wait * 1000, show) : take(embedded, queue, wait * 1000, { show, isTogether: cli.json }),
    );
  },
};

const shown = ({ messageId, sentAt, body }: Message) => ({ messageId, sentAt: new Date(sentAt).toISOString(), body: jsonIn(body) ?? body });

interface Showing {
  readonly show: (messages: readonly Message[]) => void;
  /** Whether all messages are shown together, because the output is one JSON text. */
  readonly isTogether: boolean;
}

/** Acknowledges messages after they are printed: after a crash in between, they are printed twice rather than never. */
async function take({ queues }: Embedded, queue: string, waitMs: number, { show, isTogether }: Showing): Promise<void> {
  const acknowledge = (messages: readonly Received[]): Promise<void> =>
    queues.acknowledge(
      queue,
      messages.map(({ receipt }) => receipt),
    );
  const open: Received[] = [];
  for (let wait = waitMs; ; wait = 0) {
    const messages = await queues.receive(queue, { max: batch, visibilityMs, waitMs: wait });
    if (messages.length === 0) break;
    if (isTogether) open.push(...messages);
    else {
      show(messages);
      await acknowledge(messages);
    }
  }
  if (!isTogether) return;
  show(open);
  for (let from = 0; from < open.length; from += batch) await acknowledge(open.slice(from, from + batch));
}

/** Reads the messages from the database, because a receive would count as a delivery. */
async function look(
  { database, keys }: Embedded,
  queue: string,
  waitMs: number,
  show: (messages: readonly Message[]) => void,
): Promise<void> {
  const bodies = bodiesAtRest(keys);
  const select = database.prepare('SELECT id, sentAt, body FROM messages WHERE queue = ? ORDER BY id');
  for (const until = systemClock.now() + waitMs; ; await systemClock.sleep(lookEveryMs)) {
    const messages = (select.all(queue) as { id: number; sentAt: number; body: string }[]).map(({ id, body, ...rest }) => ({
      messageId: String(id),
      body: bodies.read(body),
      ...rest,
    }));
    if (messages.length === 0 && systemClock.now() < until) continue;
    return show(messages);
  }
}
