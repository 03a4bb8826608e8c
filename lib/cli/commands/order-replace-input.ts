import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { declareInstruction } from '#cli/for-many';
import { withPlaces } from '#cli/input-places';
import { giveInstruction, type InstructionOptions } from '#cli/instruction';
import { textOption } from '#cli/options';
import { meantStep, type OrderView } from '#cli/orders';
import { readData } from '#cli/submission-file';
import type { Json } from '#core/data/json';

interface Options extends InstructionOptions {
  readonly path?: string;
  readonly data?: string;
  readonly set?: readonly string[];
}

/** Requests a step with another input: a whole one, or the present one with other values at some places. */
export const orderReplaceInput: CliCommand<Options> = {
  name: 'order replace-input',
  summary: 'Request a step with another input',
  sendsData: true,
  declare: (command) =>
    declareInstruction(command)
      .option('--path <path>', 'the activity; default: the one at which the order is blocked', textOption)
      .option(
        '--set <place=value...>',
        'change these places of the present input: address.postalCode=10115, items.0.sku=tea, or with JSON pointers; a value is JSON, or else text; where there is text now, it stays text: 10115 becomes "10115"',
      )
      .option('--data <json>', 'the whole input instead: JSON, @file, or @- for standard input'),

  async run(cli, { path, data, set, ...options }, [id = '']) {
    const kind = 'replace-input';
    const place = path === undefined ? {} : { path };
    if (data !== undefined && set !== undefined) throw new UsageError('Give --set or --data, not both.');
    if (data !== undefined) return giveInstruction(cli, id, { kind, ...place, input: await readData(data, cli.terminal) }, options);
    if (set === undefined)
      throw new UsageError(
        'The input is missing. Give --set PLACE=VALUE, or the whole input with --data: JSON, @file, or @- for standard input.',
      );
    return giveInstruction(cli, id, (order) => ({ kind, ...place, input: withPlaces(inputOf(order, path), set) }), options);
  },
};

/** Returns the input that a step has at present. */
function inputOf(order: OrderView, path: string | undefined): Json {
  const step = meantStep(order, path);
  if (step?.input !== undefined) return step.input as Json;
  const open = (order.steps ?? []).flatMap((each) => (each.input !== undefined && each.path ? [each.path] : []));
  const known = open.length === 0 ? 'None of its steps is open.' : `Name one with --path: ${open.join(', ')}.`;
  throw new UsageError(`The order has no step ${path === undefined ? 'that is blocked' : `${path} with an input`}. ${known}`);
}
