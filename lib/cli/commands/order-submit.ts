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

/** Submits one order, and stays with it to its end when asked to. */
export const orderSubmit: CliCommand<Options> = {
  name: 'order submit',
  summary: 'submits an order',
  declare: (command) =>
    command
      .argument('<file>', 'JSON of the order, or of the whole submission: {"order": ...}; - reads the input')
      .option('--key <key>', 'the idempotency key: the same again is the same order (a new one each time)')
      .option('--client <id>', 'in whose name; of no account with --token', 'cli')
      .option('--workflow <name>', 'which workflow (fulfil-order)')
      .option('--reference <text>', "the client's own name for the order")
      .option('--watch', 'shows what happens, until the order has ended; exit code 0 only when it is completed'),

  async run(cli, { key = randomUUID(), client, workflow, reference, watch: stays }, [file = '-']) {
    const submission = await readSubmission(file, cli.terminal);
    const body = { ...submission, ...(workflow === undefined ? {} : { workflow }), ...(reference === undefined ? {} : { reference }) };
    const api = await cli.api('client', client);
    const { body: submitted, replayed } = await api.call<Submitted>('POST', '/orders', { body, headers: { 'idempotency-key': key } });

    if (replayed) cli.terminal.say('This key was used before: no new order was made.');
    if (!stays || !cli.json) cli.print({ ...submitted, replayed }, () => `${submitted.orderId}\n`);
    return stays ? watch(cli, api, submitted.orderId) : 0;
  },
};
