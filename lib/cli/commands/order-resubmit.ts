import type { CliCommand } from '#cli/command';
import { declareInstruction } from '#cli/for-many';
import { giveInstruction, type InstructionOptions } from '#cli/instruction';
import { wholeOption } from '#cli/options';

interface Options extends InstructionOptions {
  completeWithin?: number;
}

/** Requests the failed step of an order in Error again. */
export const orderResubmit: CliCommand<Options> = {
  name: 'order resubmit',
  summary: 'Resubmit the failed step of a blocked order',
  declare: (command) =>
    declareInstruction(command).option(
      '--complete-within <seconds>',
      'new time limit of the whole order, from now',
      wholeOption(1, 31_622_400),
    ),

  run: (cli, { completeWithin, ...options }, [id = '']) =>
    giveInstruction(
      cli,
      id,
      { kind: 'resubmit', ...(completeWithin === undefined ? {} : { completeWithinSeconds: completeWithin }) },
      options,
    ),
};
