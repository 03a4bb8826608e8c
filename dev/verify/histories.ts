import { type Summary, total } from '../../test/simulation/simulate.ts';
import { type Figure, measured } from './figure.ts';
import { playedWorlds } from './worlds.ts';

const ioEventsWanted = { full: 10_000_000, short: 150_000 };
const kindsWanted = 10;

/**
 * Minimum shares of outcomes among the orders without a caller; other shares mean too few faults, or too many.
 *
 * Every world runs until each order has ended, if need be by an operator's decision. "By themselves" means without such a
 * decision. Usually a third of the orders complete so and 7 in 100 are compensated so; the minimum is two thirds of that.
 */
const sharesWanted = {
  'top completed by themselves': 0.22,
  'top compensated by themselves': 0.045,
  'top compensated': 0.05,
  'top through error and operator': 0.05,
} as const;

/** Minimum average counts in a thousand worlds, for events that only some worlds are about. The usual counts are twice as high. */
const perThousandWanted = {
  'worlds with the limits of DynamoDB': 1.5,
  'a write is throttled': 300,
  'a write is too large': 0.8,
  'worlds in which orders are forgotten': 5,
  'seen forgotten': 10,
  'emitted stricter schema': 40,
  'emitted later request refused by a stricter schema': 40,
  'emitted message days late': 100,
} as const;

/** G1: whole worlds with every kind of fault. */
export const figure: Figure = {
  shows: 'simulated histories with every kind of fault break no law',
  async measure(run) {
    const { summary, durationMs } = await playedWorlds(run);
    const { broken, events, io, happened, leastKindsOn } = summary;
    const ioEvents = total(io);
    const wanted = ioEventsWanted[run.form];
    return measured(
      [
        ...broken.slice(0, 20).map(({ wrong, again }) => `${wrong.join('; ')} (again: ${again})`),
        ...(ioEvents < wanted ? [`${ioEvents} I/O events instead of ${wanted}`] : []),
        ...(leastKindsOn < kindsWanted ? [`a world had only ${leastKindsOn} kinds of faults`] : []),
        ...tooLittle(happened),
        ...tooSeldom(summary),
      ],
      { worlds: summary.runs, broken: broken.length, ioEvents, timelineEvents: events, playedMs: durationMs, leastKindsOn, happened },
    );
  },
};

function tooLittle(happened: Summary['happened']): readonly string[] {
  const all = happened['top orders'] ?? 0;
  return Object.entries(sharesWanted).flatMap(([what, share]) => {
    const found = (happened[what] ?? 0) / all;
    return found >= share ? [] : [`of ${all} orders only ${(100 * found).toFixed(1)} % are ${what.replace('top ', '')}`];
  });
}

function tooSeldom({ happened, runs }: Summary): readonly string[] {
  return Object.entries(perThousandWanted).flatMap(([what, wanted]) => {
    const found = happened[what] ?? 0;
    return (1000 * found) / runs >= wanted ? [] : [`${what}: only ${found} in ${runs} worlds`];
  });
}
