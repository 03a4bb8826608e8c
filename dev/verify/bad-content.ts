import { noisyClient } from '../../test/overload/noisy-client.ts';
import { type Figure, measured } from './figure.ts';

/** The least time that counts: shorter times count as this one, because ratios of short times say nothing. */
const noticeableMs = 1_000;

/** Concurrent batches of an agent under the default quota of Lambda. Three slow orders a second, nine seconds each, take 27 of them. */
const deployedPlaces = 50;

const timesOf = (ms: number, aloneMs: number): number => Math.round((100 * ms) / Math.max(noticeableMs, aloneMs)) / 100;

/** One client sends content on which the service always fails, or for which it takes nine seconds, beside ten others (X-45, L8). */
export const figure: Figure = {
  shows:
    'one client sends content on which the service always fails, or which is slow: the p99 of ten others is at most 1.5 times as long (simulated time; X-45)',
  async measure({ form, seed, progress }) {
    const [seeds, loadMs] = form === 'full' ? [10, 120_000] : [2, 30_000];
    const short: string[] = [];
    const worlds: object[] = [];
    for (let each = seed; each < seed + seeds; each++) {
      const alone = await noisyClient({ seed: each, loadMs, isNoisy: false, isFair: true });
      const beside = await noisyClient({ seed: each, loadMs, isNoisy: false, isFair: true, content: 'bad' });
      const ratio = timesOf(beside.p99, alone.p99);
      const slow = await noisyClient({ seed: each, loadMs, isNoisy: false, isFair: true, content: 'slow', places: deployedPlaces });
      const slowRatio = timesOf(slow.p99, alone.p99);
      // The result with the usual number of places is printed and not judged: no rule limits how many of an agent's places one client
      // holds.
      const scarce = await noisyClient({ seed: each, loadMs, isNoisy: false, isFair: true, content: 'slow' });
      worlds.push({ seed: each, ratio, slowRatio, scarceTimesAsLong: timesOf(scarce.p99, alone.p99), alone, beside, slow, scarce });
      for (const [content, times] of [
        ['bad', ratio],
        ['slow', slowRatio],
      ] as const)
        if (times > 1.5)
          short.push(`seed ${each}: the others' p99 is ${times} times what it is without the client with ${content} content`);
      const open = [beside, slow, scarce].reduce((sum, { quiet, quietCompleted }) => sum + quiet - quietCompleted, 0);
      if (open > 0) short.push(`seed ${each}: ${open} orders of the others were not completed`);
      progress(`${each - seed + 1} of ${seeds} worlds`);
    }
    const ratios = worlds.map((world) => (world as { ratio: number }).ratio);
    return measured(short, { seeds, worst: Math.max(...ratios), worlds });
  },
};
