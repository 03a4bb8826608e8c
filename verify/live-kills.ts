import { alertsIn } from '../test/processes/kill-support.ts';
import { site } from '../test/processes/support.ts';
import { type Figure, measured, type Run } from './figure.ts';
import { withEnding } from './live/ending.ts';
import { killAgainAndAgain, type Plan, reportOf } from './live/kills.ts';

const plans = {
  full: { kills: 310, orders: 5200, everyMs: 1800 },
  short: { kills: 10, orders: 150, everyMs: 1200 },
};

/** G9: whole processes die, and nothing is lost, done twice, or left lying. */
export const figure: Figure = {
  shows: 'two hosts on the same data are killed with kill -9 again and again, and no order is lost, done twice, or stuck',
  async measure(run) {
    const onDisk = await onDisk_(run);
    return measured(onDisk.short, { onDisk: onDisk.counts });
  },
};

const onDisk_ = ({ form, seed, progress }: Run) =>
  withEnding(async (ending) => {
    const plan: Plan = { ...plans[form], seed, progress };
    const place = site(ending);
    const ground = {
      place,
      get store() {
        return place.open().store;
      },
      alerts: () => alertsIn(place),
    };
    return reportOf(await killAgainAndAgain(ending, ground, plan), plan, { timed: form === 'full' });
  });
