import { setTimeout as sleep } from 'node:timers/promises';
import { deadLettersIn, malformedOf } from '../bad-input/messages.ts';
import { type Took, timesAsLong, timesOf } from './arithmetic.ts';
import type { PartResult, Plan } from './overloads.ts';
import { badContent } from './relay.ts';
import type { RunningSystem } from './traffic.ts';

/** Harms a system for `forMs`, or until the signal aborts, and resolves to the number of its orders, calls or messages. */
type Attack = (
  system: RunningSystem,
  plan: Plan & { readonly forMs: number; readonly round: number },
  over: AbortSignal,
) => Promise<number>;
type Prepare = (system: RunningSystem) => Promise<unknown>;

const pairs = 5;
/** Orders a second of the client that does nothing wrong. */
const victimRate = 5;
const attackerRate = 5;
/** The largest ratio of the p99 of the others beside the attacker to their p99 without it. */
const timesAtMost = 1.5;

/** Orders with content that the service cannot process, or that takes nearly its whole time (A1). */
const content =
  (card: string): Attack =>
  async (system, { forMs }) =>
    (await system.steadily('attacker', attackerRate, forMs, card)).length;

/** Reads of lists with a filter that no index serves, over many finished orders, in four loops (A3). */
const lists: Attack = (system, _, over) => atOnce(4, over, () => system.read('attacker', '/orders?limit=100&fault=NoSuchFault'));

/** Stores more finished orders than one page of a list examines. */
const stock: Prepare = async (system) => system.ended(await system.steadily('attacker', 100, 12_000));

/** Calls that wait for the end of a slow order, far more at a time than one client may have. */
const waits: Attack = async (system, { forMs }, over) => {
  const [order] = await system.steadily('attacker', 1, 1, badContent.slow);
  const path = `/orders/${order?.orderId}?wait=${Math.max(1, Math.round(forMs / 1000))}`;
  return atOnce(50, over, async () => {
    await system.read('attacker', path);
    await sleep(1_000);
  });
};

/** Messages that no function can process, on every queue. */
const messages: Attack = async (system, { forMs, seed, round }) => {
  const perSecond = 100;
  const all = malformedOf(Math.ceil((perSecond * forMs) / 1000), seed + round);
  const before = await deadLettersIn(system.open(), 0);
  const start = Date.now();
  for (const [index, { queue, body }] of all.entries()) {
    await sleep(Math.max(0, start + (1000 * index) / perSecond - Date.now()));
    await system.open().queues.send([{ queue, body }]);
  }
  const kept = (await deadLettersIn(system.open(), before + all.length)) - before;
  if (kept !== all.length) throw new Error(`${kept} of ${all.length} malformed messages are dead letters.`);
  return all.length;
};

/** Attackers by name, each a part of `npm run overload:live`. */
export const neighbors = {
  'bad-content': beside(content(badContent.broken)),
  'slow-content': beside(content(badContent.slow)),
  'big-lists': beside(lists, stock),
  'waiting-calls': beside(waits),
  'bad-messages': beside(messages),
};

/**
 * Runs one client by turns alone on one system, and beside an attacker on another system. So other work on the machine affects both
 * alike, and an attack has no effect on the client that is alone.
 */
function beside(attack: Attack, prepare: Prepare = async () => undefined) {
  return async (attacked: RunningSystem, plan: Plan): Promise<PartResult> => {
    const calm = await plan.startAnother();
    await prepare(attacked);
    const forMs = 20_000 * plan.scale;
    const [alone, withIt]: [Took[], Took[]] = [[], []];
    const ratios: (number | null)[] = [];
    let done = 0;
    const victim = async (system: RunningSystem) => system.ended(await system.steadily('victim', victimRate, forMs));
    await Promise.all([calm, attacked].map((system) => victim(system)));
    for (let round = 0; round < pairs; round++) {
      const one = await victim(calm);
      const over = new AbortController();
      const attacking = attack(attacked, { ...plan, forMs, round }, over.signal);
      const other = await victim(attacked);
      over.abort();
      done += await attacking;
      alone.push(...one);
      withIt.push(...other);
      ratios.push(timesAsLong(timesOf(other).p99Ms, timesOf(one).p99Ms));
      plan.progress(`${round + 1} of ${pairs} pairs: ${timesOf(one).p99Ms} ms alone, ${timesOf(other).p99Ms} ms beside the attacker`);
    }
    const [usual, disturbed] = [timesOf(alone), timesOf(withIt)];
    const ratio = timesAsLong(disturbed.p99Ms, usual.p99Ms);
    const open = [...alone, ...withIt].filter(({ outcome }) => outcome !== 'completed').length;
    return {
      pairs,
      attacks: done,
      alone: usual,
      beside: disturbed,
      ratios,
      p99TimesAsLong: ratio,
      isWithinAim: ratio !== null && ratio <= timesAtMost,
      unfinished: open === 0 ? [] : [`${open} of ${alone.length + withIt.length} orders of the victim are not completed`],
    };
  };
}

/** Repeats a call in several loops until the signal aborts, and returns the number of calls. */
async function atOnce(loops: number, over: AbortSignal, call: () => Promise<unknown>): Promise<number> {
  let calls = 0;
  const loop = async (): Promise<void> => {
    for (; !over.aborted; calls++) await call();
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return calls;
}
