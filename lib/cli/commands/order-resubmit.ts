import type { CliCommand } from '#cli/command';
import { giveInstruction } from '#cli/instruction';
import { textOption, wholeOption } from '#cli/options';

interface Options {
  reason: string;
  dryRun?: true;
  completeWithin?: number;
}

/** Retries the failed step of an order in Error. */
export const orderResubmit: CliCommand<Options> = {
  name: 'order resubmit',
  summary: 'Retry the failed step of an order in Error',
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .requiredOption('--reason <text>', 'why; kept in the history of the order', textOption)
      .option('--dry-run', 'show the check without changing anything')
      .option('--complete-within <seconds>', 'new time limit of the whole order, from now', wholeOption(1, 31_622_400)),

  run: (cli, { completeWithin, ...options }, [id = '']) =>
    giveInstruction(
      cli,
      id,
      { kind: 'resubmit', ...(completeWithin === undefined ? {} : { completeWithinSeconds: completeWithin }) },
      options,
    ),
};
