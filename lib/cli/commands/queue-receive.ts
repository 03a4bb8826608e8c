import type { Embedded } from '#adapters/sqlite/open';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { secondsOption } from '#cli/options';
import { printable } from '#cli/text';
import { systemClock } from '#ports/clock';

/** What the system itself takes from these would be lost to it until somebody notices. */
const isSystems = (queue: string): boolean => /-(requests|replies|dead)$/.test(queue) || queue === 'wake-ups' || queue === 'submissions';

const batch = 10;
const visibilityMs = 30_000;
const lookEveryMs = 50;

interface Message {
  readonly messageId: string;
  readonly sentAt: number;
  readonly body: string;
}

/** Prints the messages of a queue of the data folder, such as a client's response channel, and takes them off it. */
export const channelReceive: CliCommand<{ wait: number; keep?: true }> = {
  name: 'channel receive',
  summary: 'prints the messages of a queue, one a line, and takes them off it',
  declare: (command) =>
    command
      .argument('<name>', 'the queue: redress-response-acme')
      .option('--wait <seconds>', 'waits so long for the first one', secondsOption, 0)
      .option('--keep', 'leaves them on the queue'),

  async run(cli, { wait, keep }, [queue = '']) {
    if (isSystems(queue) && !keep) throw new UsageError(`The system itself takes its work from ${queue}: look at it with --keep.`);
    const say = (messages: readonly Message[]) => {
      if (!cli.json) for (const { body } of messages) cli.terminal.write(`${printable(body)}\n`);
    };
    const messages = await cli.withData((embedded) =>
      keep ? looked(embedded, queue, wait * 1000, say) : taken(embedded, queue, wait * 1000, say),
    );
    if (cli.json)
      cli.print(
        {
          items: messages.map(({ messageId, sentAt, body }) => ({ messageId, sentAt: new Date(sentAt).toISOString(), body: jsonOf(body) })),
        },
        () => '',
      );
  },
};

/** A message leaves the queue after it was printed: killed in between, it is printed twice rather than never. */
async function taken(
  { queues }: Embedded,
  queue: string,
  waitMs: number,
  say: (messages: readonly Message[]) => void,
): Promise<readonly Message[]> {
  const all: Message[] = [];
  for (let wait = waitMs; ; wait = 0) {
    const messages = await queues.receive(queue, { max: batch, visibilityMs, waitMs: wait });
    if (messages.length === 0) return all;
    say(messages);
    await queues.acknowledge(
      queue,
      messages.map(({ receipt }) => receipt),
    );
    all.push(...messages);
  }
}

/** Receiving would count as a delivery, so it only reads. */
async function looked(
  { database }: Embedded,
  queue: string,
  waitMs: number,
  say: (messages: readonly Message[]) => void,
): Promise<readonly Message[]> {
  const select = database.prepare('SELECT id, sentAt, body FROM messages WHERE queue = ? ORDER BY id');
  for (const until = systemClock.now() + waitMs; ; await systemClock.sleep(lookEveryMs)) {
    const messages = (select.all(queue) as { id: number; sentAt: number; body: string }[]).map(({ id, ...rest }) => ({
      messageId: String(id),
      ...rest,
    }));
    if (messages.length === 0 && systemClock.now() < until) continue;
    say(messages);
    return messages;
  }
}

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};
