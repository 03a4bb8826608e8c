import type { CliCommand } from '#cli/command';
import { type MessageView, messagePath } from '#cli/dead-letters';
import { FailedError } from '#cli/errors';
import type { Time } from '#cli/orders';
import { printable } from '#cli/text';

interface WholeMessage extends MessageView {
  readonly attempts: readonly { readonly at: Time; readonly error: string }[];
  readonly body: unknown;
  /** Describes a message that is not JSON, and so has no `body`; null for any other message. */
  readonly text: string | null;
}

/** Shows a dead letter and its failed attempts. */
export const deadLetterShow: CliCommand<{ body?: true }> = {
  name: 'dead-letter show',
  alias: 'get',
  summary: 'Show a dead letter and its failed attempts',
  declare: (command) =>
    command
      .argument('<channel>', 'channel of the message')
      .argument('<id>', 'message id')
      .option('--body', 'print the message body alone, for editing in a file'),

  async run(cli, { body: bodyAlone }, [channel = '', id = '']) {
    const { body: message } = await (await cli.api('operator')).call<WholeMessage>('GET', messagePath(channel, id));
    const text = () => message.text ?? JSON.stringify(message.body, undefined, 2);
    if (bodyAlone && message.text !== null)
      throw new FailedError(
        `${message.text} Ask the sender for the content, and resubmit the message with a complete body: --data @message.json.`,
      );
    if (bodyAlone) return void cli.terminal.write(`${linesOf(text()).join('\n')}\n`);
    cli.print(message, () => `${[...factsOf(message), ...linesOf(text())].join('\n')}\n`);
  },
};

/** Splits a body into lines, without characters that a terminal interprets. */
const linesOf = (text: string): readonly string[] => text.split('\n').map(printable);

const factsOf = ({ id, queue, orderId, sentAt, reason, failures, attempts, handling }: WholeMessage): readonly string[] =>
  [
    `${id} on ${queue}, sent ${sentAt}${orderId === null ? '' : `, about ${orderId}`}`,
    reason,
    ...(handling ? [`${handling.by} began to ${handling.action} it at ${handling.at}`] : []),
    ...(failures > 0 ? [`${failures} failures:`] : []),
    ...attempts.map(({ at, error }) => `  ${at}  ${error}`),
  ].map(printable);
