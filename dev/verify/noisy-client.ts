import { type NoisyResult, noisyClient } from '../../test/overload/noisy-client.ts';
import { type Figure, measured } from './figure.ts';

/** One client sends a hundred times the load of each of ten others, and twice the capacity of the service (X-46, L8). */
export const figure: Figure = {
  shows: 'one client sends 100 times as much as each of ten others: their p99 at most doubles (simulated time; X-46)',
  async measure({ form, seed, progress }) {
    const [seeds, loadMs] = form === 'full' ? [10, 120_000] : [2, 20_000];
    const shortfalls: string[] = [];
    const worlds: object[] = [];
    for (let each = seed; each < seed + seeds; each++) {
      const alone = await noisyClient({ seed: each, loadMs, isNoisy: false, isFair: true });
      const beside = await noisyClient({ seed: each, loadMs, isNoisy: true, isFair: true });
      const unfair = await noisyClient({ seed: each, loadMs, isNoisy: true, isFair: false });
      const ratio = round(beside.p99 / alone.p99);
      worlds.push({ seed: each, ratio, ratioUnfair: round(unfair.p99 / alone.p99), alone, beside, unfair });
      shortfalls.push(...missedBy(ratio, { alone, beside, unfair }, loadMs).map((what) => `seed ${each}: ${what}`));
      progress(`${each - seed + 1} of ${seeds} worlds`);
    }
    const ratios = worlds.map((world) => (world as { ratio: number }).ratio);
    return measured(shortfalls, { seeds, worst: Math.max(...ratios), worlds });
  },
};

interface Three {
  readonly alone: NoisyResult;
  readonly beside: NoisyResult;
  readonly unfair: NoisyResult;
}

function missedBy(ratio: number, { alone, beside, unfair }: Three, loadMs: number): readonly string[] {
  const seconds = loadMs / 1000;
  const open = [alone, beside].reduce((sum, { quiet, quietCompleted }) => sum + quiet - quietCompleted, 0);
  return [
    ...(ratio <= 2 ? [] : [`the others' p99 is ${ratio} times what it is without the noisy client`]),
    ...(open === 0 ? [] : [`${open} orders of the others were not completed`]),
    ...(Math.min(alone.quiet, beside.quiet) >= 2 * seconds ? [] : ['too few orders of the others']),
    ...(beside.noisy >= 30 * seconds ? [] : ['the noisy client was not noisy']),
    // The noisy client gets the remaining capacity: fairness must not starve it.
    ...(beside.noisyCompleted >= 10 * seconds ? [] : [`only ${beside.noisyCompleted} orders of the noisy client were completed`]),
    // Without fair turns, the noise must have an effect. Otherwise the figure shows nothing.
    ...(unfair.p99 > 3 * alone.p99 ? [] : ['the noisy client makes no difference without fair turns']),
  ];
}

const round = (value: number): number => Math.round(value * 100) / 100;
