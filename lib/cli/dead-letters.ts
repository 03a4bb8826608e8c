import type { Command } from 'commander';
import type { Api } from './http.ts';
import { textOption } from './options.ts';
import { listed, type Time } from './orders.ts';

/** A dead letter in the API's lists. */
export interface MessageView {
  readonly id: string;
  readonly channel: string;
  readonly queue: string;
  readonly type: string | null;
  readonly orderId: string | null;
  readonly reason: string;
  readonly failures: number;
  readonly sentAt: Time;
  readonly handling: { readonly action: string; readonly by: string; readonly at: Time } | null;
}

/** Filter options of the dead-letter commands. Without any, all messages of the channel match. */
export interface MessageFilter {
  readonly type?: string;
  readonly order?: string;
  readonly queue?: string;
  readonly because?: string;
}

export const declareFilter = (command: Command): Command =>
  command
    .option('--type <type>', 'only messages of this type: request, reply, submission', textOption)
    .option('--order <id>', 'only messages about this order (full id)', textOption)
    .option('--queue <name>', 'only messages of this queue: payment-requests', textOption)
    .option('--because <text>', 'only messages whose reason contains this text', textOption);

export const filterOf = ({ type, order, queue, because }: MessageFilter) => ({
  ...(type === undefined ? {} : { type }),
  ...(order === undefined ? {} : { orderId: order }),
  ...(queue === undefined ? {} : { queue }),
  ...(because === undefined ? {} : { reason: because }),
});

export const deadLetterPath = (channel: string, rest = ''): string => `/channels/${encodeURIComponent(channel)}/dead-letters${rest}`;

export const messagePath = (channel: string, id: string, rest = ''): string => deadLetterPath(channel, `/${encodeURIComponent(id)}${rest}`);

/** Channels that belong to no agent and no consumer: submissions, wake-ups, and calls of other orders. */
const engineChannels = ['submissions', 'wake-ups', 'workflows'];

export async function channelNames(api: Api): Promise<readonly string[]> {
  const channels = await listed<{ readonly name: string }>(api, '/channels');
  return [...new Set([...channels.map(({ name }) => name), ...engineChannels])];
}

interface TreatedView extends MessageView {
  readonly outcome: string;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Treats all messages that match the filter, in as many calls as needed. */
export async function treatAll(
  api: Api,
  channel: string,
  treatment: { readonly filter: object; readonly action: string; readonly reason: string; readonly dryRun: boolean; readonly again?: true },
): Promise<readonly TreatedView[]> {
  const items: TreatedView[] = [];
  for (let cursor: string | undefined; ; ) {
    const body = { ...treatment, ...(cursor === undefined ? {} : { cursor }) };
    const { body: page } = await api.call<{ items: readonly TreatedView[]; next: string | null }>(
      'POST',
      deadLetterPath(channel, '/bulk'),
      {
        body,
      },
    );
    items.push(...page.items);
    if (page.next === null) return items;
    cursor = page.next;
  }
}
