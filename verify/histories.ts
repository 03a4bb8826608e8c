import { addSummary, hits, nothing, type Summary, total } from '../test/simulation/simulate.ts';
import { type Figure, measured } from './figure.ts';
import { seedsFrom, spread } from './spread.ts';

const sizes = { full: { worlds: 100_000, ioEvents: 10_000_000 }, short: { worlds: 2000, ioEvents: 200_000 } };
const pieceOf = 100;
const tellEvery = 5000;

/** G1, G2: whole worlds with everything that goes wrong in them, much faster than they would pass. */
export const figure: Figure = {
  shows: 'simulated histories in which everything goes wrong, and no law is broken',
  async measure({ form, seed, cores, progress }) {
    const { worlds, ioEvents } = sizes[form];
    const sum = nothing();
    const begun = performance.now();
    await spread<{ readonly first: number; readonly runs: number }, Summary>({
      module: new URL('./worlds.ts', import.meta.url),
      jobs: seedsFrom(seed, worlds, pieceOf),
      cores,
      onResult(summary) {
        addSummary(sum, summary);
        if (sum.runs % tellEvery === 0) progress(`${sum.runs} of ${worlds} worlds, ${sum.broken.length} broken`);
      },
    });
    const timesFaster = Math.round(sum.simulatedMs / (performance.now() - begun));
    const io = total(sum.io);
    const { broken, landed, simulatedMs, ...counts } = sum;
    const kinds = Object.fromEntries(Object.keys(landed).map((kind) => [kind, hits(sum, kind)]));
    return measured(
      [
        ...broken.slice(0, 10).map(({ wrong, again }) => `${wrong.join('; ')} (again: ${again})`),
        ...(io < ioEvents ? [`${io} I/O events instead of ${ioEvents}`] : []),
        ...(timesFaster < 10_000 ? [`simulated time passes ${timesFaster} times as fast as real time, not 10,000 times`] : []),
      ],
      {
        ...counts,
        worlds: sum.runs,
        broken: broken.length,
        ioEvents: io,
        simulatedHours: Math.round(simulatedMs / 3_600_000),
        timesFaster,
        landed: kinds,
      },
    );
  },
};
