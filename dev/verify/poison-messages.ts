import { Flood, type Flooded } from '../../test/roles/dead-letters/flood.ts';
import { type Figure, measured } from './figure.ts';

/** The longest p99 of orders: the visibility timeout of the queues that the scheduler reads. Queues of agents have longer ones. */
const visibilityMs = 30_000;
const slowerAtMost = 1.2;
/** An order is one submission, two requests and two replies. */
const messagesOfAnOrder = 5;
const forms = {
  full: { malformed: 24_000, orders: 4_800, mixed: 4_000 },
  short: { malformed: 1_200, orders: 240, mixed: 400 },
} as const;

/** G13: messages that cannot be processed, mixed with orders (X-13, S25). */
export const figure: Figure = {
  shows: 'malformed messages on every queue: no function crashes, each is dead-lettered or dropped, and orders are hardly slower',
  async measure({ form, seed, progress }) {
    const { malformed, orders, mixed } = forms[form];
    const half = await new Flood({ seed, malformed, orders }).run();
    progress(`${malformed} malformed messages, half of all`);
    const fifth = await new Flood({ seed, malformed: (mixed * messagesOfAnOrder) / 4, orders: mixed }).run();
    progress('a fifth of all');
    const none = await new Flood({ seed, malformed: 0, orders: mixed }).run();
    const slower = fifth.p99Ms / none.p99Ms;
    return measured(
      [
        ...[half, fifth, none].flatMap(({ wrong }) => wrong),
        ...(half.p99Ms > visibilityMs ? [`one of 100 orders takes ${half.p99Ms} ms or longer, allowed ${visibilityMs}`] : []),
        ...(slower > slowerAtMost
          ? [`with a fifth of malformed messages the slowest of 100 orders takes ${slower.toFixed(2)} times as long`]
          : []),
        ...Object.entries(half.kinds).flatMap(([kind, count]) => (count === 0 ? [`"${kind}" never came`] : [])),
        ...(half.deadLetter < 0.9 * malformed ? [`only ${half.deadLetter} of ${malformed} were dead-lettered`] : []),
      ],
      {
        malformed,
        deadLetter: half.deadLetter,
        dropped: half.dropped,
        crashes: half.crashes,
        slower,
        half: timesOf(half),
        fifth: timesOf(fifth),
        none: timesOf(none),
        kinds: half.kinds,
      },
    );
  },
};

const timesOf = ({ completed, p50Ms, p99Ms, slowestMs }: Flooded) => ({ completed, p50Ms, p99Ms, slowestMs });
