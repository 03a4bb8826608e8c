import { randomUUID } from 'node:crypto';
import type { CliCommand } from '#cli/command';
import { readSubmission } from '#cli/submission-file';
import { watch } from '#cli/watch';

interface Options {
  key?: string;
  client: string;
  workflow?: string;
  reference?: string;
  watch?: true;
}

interface Submitted {
  readonly orderId: string;
  readonly processState: string;
  readonly submittedAt: string;
}

/** Submits one order; with `--watch`, follows it until it has ended. */
export const orderSubmit: CliCommand<Options> = {
  name: 'order submit',
  summary: 'Submit an order',
  declare: (command) =>
    command
      .argument('<file>', 'JSON file of the order or the whole submission, {"order": ...}; - for standard input')
      .option('--key <key>', 'idempotency key; the same key again is the same order; default: a random key')
      .option('--client <id>', 'client to submit as (ignored with --token)', 'cli')
      .option('--workflow <name>', 'workflow of the order, such as fulfil-order; without it, the system takes its default workflow')
      .option('--reference <text>', "client's reference for the order")
      .option('--watch', 'follow the order until it has ended; exit code 0 only if it completed'),

  async run(cli, { key = randomUUID(), client, workflow, reference, watch: stays }, [file = '-']) {
    const submission = await readSubmission(file, cli.terminal);
    const body = { ...submission, ...(workflow === undefined ? {} : { workflow }), ...(reference === undefined ? {} : { reference }) };
    const api = await cli.api('client', client);
    const { body: submitted, replayed } = await api.call<Submitted>('POST', '/orders', { body, headers: { 'idempotency-key': key } });

    if (replayed) cli.terminal.say('This key was used before. No new order was created.');
    if (!stays || !cli.json) cli.print({ ...submitted, replayed }, () => `${submitted.orderId}\n`);
    if (!stays) return 0;
    // An operator sees more of each step than a client. On one machine, the key of the data folder signs a token for an operator too.
    const ended = await watch(cli, await cli.api('operator'), submitted.orderId);
    return ended?.outcome === 'completed' ? 0 : 1;
  },
};
