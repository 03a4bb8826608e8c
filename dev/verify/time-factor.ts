import { type Figure, measured } from './figure.ts';
import { playedWorlds } from './worlds.ts';

/** The least factor. The short form asks for less, because it runs beside other work on small machines. */
const sought = { full: 10_000, short: 1000 };

/** G2: how much faster than real time the simulation runs. */
export const figure: Figure = {
  shows: 'simulated time passes many times as fast as real time',
  async measure(run) {
    const { summary, durationMs } = await playedWorlds(run);
    const timesFaster = Math.round(summary.simulatedMs / durationMs);
    const wanted = sought[run.form];
    return measured(timesFaster < wanted ? [`${timesFaster} times as fast instead of ${wanted}`] : [], {
      timesFaster,
      simulatedHours: Math.round(summary.simulatedMs / 3_600_000),
      playedMs: durationMs,
      processes: run.cores,
    });
  },
};
