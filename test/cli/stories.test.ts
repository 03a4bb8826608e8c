import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { runningSystem } from './support.ts';

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

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';

/** Replaces what differs from run to run. The same lengths keep the tables as they were printed. */
const printed = (text: string, bodies: readonly string[]): string =>
  bodies
    .reduce((each, body) => each.replaceAll(body, alphabet), text)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…')
    .replaceAll(/-[0-9a-f]{8}\b/g, '-1a2b3c4d')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-03-02T09:00:00.000Z')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-03-02 09:00:00')
    .replaceAll(/\b\d+(\.\d)? s\b(?! after)/g, '0.1 s')
    .replaceAll(/\b[\d.]+ s after/g, '10 s after')
    .replaceAll(/[ ]+$/gm, '')
    .trim();

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
    if (deed) await deed(world);
    else {
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
      return `${line}\n${printed(`${shown}\n${err}`, bodies)}\n`;
    }
    return `${line}\n`;
  };
  const text = readFileSync(page, 'utf8');
  const start = text.indexOf(`## ${chapter}\n`);
  assert.ok(start >= 0, `${page.pathname} has no chapter ${chapter}`);
  const end = text.indexOf('\n## ', start);
  const told = text.slice(start, end < 0 ? undefined : end);
  let played = told;
  for (const [transcript] of told.matchAll(/(?<=```console\n)[\s\S]*?(?=```)/g)) {
    const prints: string[] = [];
    for (const line of transcript.split('\n').filter((each) => each.startsWith('$ '))) prints.push(await run(line));
    played = played.replace(transcript, () => prints.join(''));
  }
  if (process.env['UPDATE_TRANSCRIPTS'])
    writeFileSync(
      page,
      text.replace(told, () => played),
    );
  else assert.equal(told, played);
}

describe('stories of operators at the command line', () => {
  test('F-60, F-155: an order continues exactly where it was blocked, with the change of a person', (context) =>
    plays(context, 'Resume exactly there, with my change'));
  test('F-59: a person finds the orders that failed for one reason', (context) =>
    plays(context, 'Find the ones that fail for this reason'));
  test('F-157: a task says that its resolution did not work, and which task came after it', (context) =>
    plays(context, 'Tell me the truth about whether it worked'));
  test('F-153: a person sees what will be undone, stops the undo, and lets it go on', (context) =>
    plays(context, 'Let me see and stop the undo'));
  test('F-155: a person keeps what worked, and the next task suggests it without the values of the first order', (context) =>
    plays(context, 'Keep what worked for the next time'));
});
