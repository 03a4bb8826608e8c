import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { runningSystem } from './support.ts';
import { playTranscripts, standInFor, withoutTimes, wordsOf } from './transcripts.ts';

/** Each chapter has a transcript of the command line. `UPDATE_TRANSCRIPTS=1` writes what the commands print. */
const page = new URL('../../docs/operations/stories.md', import.meta.url);

const Declined = fault('CardDeclined');
const Nothing = z.object({});

/** Deeds outside of the system, which a transcript names in lines that begin with `$ #`. */
interface World {
  readonly unpacked: PromiseWithResolvers<void>;
  /** Submits an order whose card the bank declines. */
  readonly orderBlocked: () => Promise<void>;
}

const deeds: { readonly [line: string]: (world: World) => void | Promise<void> } = {
  '$ # The parcel is unpacked.': ({ unpacked }) => unpacked.resolve(),
  '$ # The bank declines the card of another order.': ({ orderBlocked }) => orderBlocked(),
};

const Item = z.object({ item: z.string() });
const order = z.object({ item: z.string(), card: z.string() });
const step = () => operation({ input: Item, output: Nothing, run: () => ({}) });

/** A shop whose bank declines the card `old`, and whose parcels take long to unpack. */
function shopIn(world: Pick<World, 'unpacked'>) {
  const unpack = operation({ input: Item, output: Nothing, run: () => world.unpacked.promise.then(() => ({})) });
  const stock = defineAgent('stock', { reserve: step(), giveBack: step(), pack: step(), unpack });
  const charge = operation({
    input: z.object({ card: z.string() }),
    output: Nothing,
    faults: [Declined],
    run: ({ card }, call) => (card === 'old' ? call.failed(Declined, 'The bank says no.') : {}),
  });
  const till = defineAgent('till', { charge });
  const sell = defineWorkflow('fulfil-order', { version: 1, order, toOperator: [Declined] }, ({ order: { item, card } }) =>
    sequence(
      stock.reserve({ item }).undo(() => stock.giveBack({ item })),
      stock.pack({ item }).undo(() => stock.unpack({ item })),
      till.charge({ card }),
    ),
  );
  return defineApp({ workflows: [sell], agents: [stock, till] });
}

/** Replaces what differs from run to run. */
const printed = (text: string, bodies: readonly string[]): string =>
  withoutTimes(
    bodies
      .reduce((each, body) => each.replaceAll(body, standInFor(0)), text)
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…')
      .replaceAll(/-[0-9a-f]{8}\b/g, '-1a2b3c4d'),
  );

/** Plays the commands of a chapter about one blocked order, and compares what they print. */
async function plays(context: TestContext, chapter: string): Promise<void> {
  const unpacked = Promise.withResolvers<void>();
  const system = await runningSystem(shopIn({ unpacked }));
  context.after(() => system.stop());
  const bodies: string[] = [];
  const orderBlocked = async () => void bodies.push((await system.order('old')).slice('ord_'.length));
  const world: World = { unpacked, orderBlocked };
  await orderBlocked();
  const run = async (line: string): Promise<string> => {
    const deed = deeds[line];
    if (deed) {
      await deed(world);
      return '';
    }
    const [first = '', next = ''] = bodies;
    const solution = line.includes('$SOLUTION') ? (await system.redress(['solution', 'list', '--json'])).json.items[0].id : '';
    const named = line
      .replaceAll('$ORDER', `ord_${first}`)
      .replaceAll('$TASK', `tsk_${first}_1`)
      .replaceAll('$NEXT', `ord_${next}`)
      .replaceAll('$SOLUTION', solution);
    const [command = '', isTail] = named.split(' | tail -n 1');
    const { out, err } = await system.redress(wordsOf(command).slice(2));
    const shown = isTail === undefined ? out : out.trimEnd().split('\n').slice(-1).join('');
    return printed(`${shown.trimEnd()}\n${err}`, bodies);
  };
  await playTranscripts(page, chapter, run);
}

describe('stories of operators at the command line', () => {
  test('F-60, F-155: an order continues exactly where it was blocked, with the change of a person', (context) =>
    plays(context, 'Resume exactly there, with my change'));
  test('F-59: a person finds the orders that failed for one reason', (context) =>
    plays(context, 'Find the ones that fail for this reason'));
  test('F-157: a task says that its resolution has failed again, and which task was opened after it', (context) =>
    plays(context, 'Tell me the truth about whether it worked'));
  test('F-153: a person sees what will be undone, stops the undo, and lets it continue', (context) =>
    plays(context, 'Let me see and stop the undo'));
  test('F-155: a person keeps a resolution that worked, and the next task suggests it without the values of the first order', (context) =>
    plays(context, 'Keep what worked for the next time'));
});
