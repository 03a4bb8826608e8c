import type { AwsEndpoints } from '#adapters/aws/open';
import { openInvoked } from '../../test/adapters/aws/invocations.ts';
import { startDynoxide } from '../../test/support/emulators.ts';
import { budget, type Figure, type OrderFigures, writeUnitsPerStepMax } from './budget.ts';
import { printCosts } from './dollars.ts';
import { withEmulators } from './emulated.ts';
import { printPasses } from './passes.ts';
import { nextKey, type Played, type Print, play, playWithLostAgent, warmUp } from './played.ts';
import shop, { counts, type Kind, kinds, nameOf, order } from './shop.ts';

/**
 * Measures the requests of orders to AWS, and their price, with the functions of the whole system on emulators, one run after
 * the other. The bench counts requests, units and bytes; dollars are list prices times those counts.
 */
const print: Print = (row) => void process.stdout.write(`${JSON.stringify({ bench: 'requests', ...row })}\n`);

async function goodOrder(endpoints: AwsEndpoints): Promise<Played> {
  const invoked = await openInvoked({ app: shop, endpoints });
  await warmUp(invoked);
  const good = await play(invoked, 'fulfil');
  invoked.close();
  return good;
}

function printGoodOrder({ figures, created, requests }: Played): void {
  print({ order: 'good', ...figures, created, requests });
  for (const [figure, most] of Object.entries(budget))
    print({ order: 'good', figure, measured: figures[figure as Figure], budget: most, met: figures[figure as Figure] <= most });
}

async function printOtherOrders(endpoints: AwsEndpoints, good: Played): Promise<void> {
  const invoked = await openInvoked({ app: shop, endpoints });
  const announcing = await openInvoked({ app: shop, endpoints, environment: { ANNOUNCE_PROCESSED: 'on' } });
  const show = (what: string, { figures, requests }: Played): void => {
    const more = (figure: keyof typeof figures): number => figures[figure] - good.figures[figure];
    const moreThanGood = {
      tableRequests: more('tableRequests'),
      writeUnits: more('writeUnits'),
      readUnits: more('readUnits'),
      queueRequests: more('queueRequests'),
    };
    print({ order: what, ...figures, requests, moreThanGood });
  };
  await warmUp(invoked);
  await warmUp(announcing);
  const trouble = playWithLostAgent(invoked);
  // The supervisor looks up its queue once, too.
  await invoked.submit(nextKey(), { workflow: 'fulfil', order });
  await trouble();
  await invoked.settle();
  show('a step fails once at its agent', await play(invoked, 'fulfil-at-second-try'));
  show('a step is requested again after its time limit', await play(invoked, 'fulfil', { trouble }));
  show('reset as a whole after its time', await play(invoked, 'fulfil-as-a-whole', { trouble }));
  show('with a reference of the client', await play(invoked, 'fulfil', { reference: 'invoice-4711' }));
  show('its end is announced', await play(announcing, 'fulfil'));
  const compensated = await play(invoked, 'fulfil-refused', { outcome: 'compensated' });
  show('compensated: its third step is refused, two are undone', compensated);
  for (const figure of ['writeUnits', 'readUnits', 'queueRequests'] as const) {
    const times = Number((compensated.figures[figure] / good.figures[figure]).toFixed(2));
    print({ order: 'compensated', figure, timesAGoodOrder: times, most: 2, met: times <= 2 });
  }
  invoked.close();
  announcing.close();
}

const longOrders: { readonly [kind in Kind]: string } = {
  plain: 'nobody reads answers',
  linked: 'each reads the answer of the one before it',
  undoable: 'each has an undo',
  undone: 'each is undone: what that takes more than doing it',
};

async function printLongOrders(endpoints: AwsEndpoints): Promise<void> {
  const invoked = await openInvoked({ app: shop, endpoints });
  await warmUp(invoked);
  const done = new Map<number, OrderFigures>();
  for (const kind of kinds) {
    const units = new Map<number, number>();
    for (const count of counts) {
      const played = await play(invoked, nameOf(count, kind), kind === 'undone' ? { outcome: 'compensated' } : {});
      if (kind === 'undoable') done.set(count, played.figures);
      const less = (figure: 'writeUnits' | 'readUnits' | 'tableRequests'): number =>
        played.figures[figure] - (kind === 'undone' ? (done.get(count)?.[figure] ?? 0) : 0);
      const writeUnitsPerStep = less('writeUnits') / count;
      units.set(count, less('writeUnits'));
      print({
        order: `${count} steps`,
        steps: longOrders[kind],
        writeUnitsPerStep: rounded(writeUnitsPerStep),
        readUnitsPerStep: rounded(less('readUnits') / count),
        tableRequestsPerStep: rounded(less('tableRequests') / count),
        stateBytes: played.figures.stateBytes,
        budget: writeUnitsPerStepMax,
        met: writeUnitsPerStep <= writeUnitsPerStepMax,
      });
    }
    print({ order: `${counts.join(', ')} steps`, steps: longOrders[kind], ...growth(units) });
  }
  invoked.close();
}

/** The largest ratio of the costs of a step in a long order and in a short one: later steps have longer numbers, so the state is larger. */
const flatMax = 1.1;

/** Write units of one more step, among few steps and among many. */
function growth(units: ReadonlyMap<number, number>) {
  const [few = 0, more = 0, many = 0] = counts;
  const slope = (from: number, to: number): number => ((units.get(to) ?? 0) - (units.get(from) ?? 0)) / (to - from);
  const ratio = slope(more, many) / slope(few, more);
  return {
    [`writeUnitsOfOneMoreStepUpTo${more}`]: rounded(slope(few, more)),
    [`writeUnitsOfOneMoreStepUpTo${many}`]: rounded(slope(more, many)),
    ratio: rounded(ratio),
    flat: ratio <= flatMax,
  };
}

const rounded = (number: number): number => Math.round(number * 1000) / 1000;

await withEmulators(startDynoxide, async (endpoints) => {
  const good = await goodOrder(endpoints);
  printGoodOrder(good);
  await printOtherOrders(endpoints, good);
  await printLongOrders(endpoints);
});
const reads = await printPasses(print);
await withEmulators(startDynoxide, (endpoints) => printCosts(endpoints, reads, print));
