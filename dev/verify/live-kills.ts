import { alertsIn } from '../../test/processes/kill-support.ts';
import { type Ending, site } from '../../test/processes/support.ts';
import { type Figure, measured, type Run } from './figure.ts';
import { withCleanup } from './live/cleanup.ts';
import { brokenCloud, type DatabaseName } from './live/cloud.ts';
import { killAgainAndAgain, type Plan, reportOf } from './live/kills.ts';

const onDiskPlans = {
  full: { kills: 300, orders: 5300, ordersMin: 5000, atWorkMax: 90, everyMs: 1300, longestMs: 540_000 },
  short: { kills: 10, orders: 150, ordersMin: 130, atWorkMax: 90, everyMs: 1200, longestMs: 120_000 },
};
const cloudPlans = {
  full: { kills: 60, orders: 600, ordersMin: 510, atWorkMax: 40, everyMs: 2200, longestMs: 330_000 },
  short: { kills: 3, orders: 30, ordersMin: 26, atWorkMax: 40, everyMs: 2000, longestMs: 120_000 },
};

/** G9: whole processes are killed, and no effect is lost, repeated or left unfinished. */
export const figure: Figure = {
  shows: 'two hosts on the same data are killed with kill -9 again and again, and no order is lost, done twice, or stuck',
  async measure(run) {
    const onDisk = await measureOnDisk(run);
    const cloud = await measureInCloud(run, 'dynoxide');
    // Amazon's own emulator comes by Maven and runs on Java, so it runs only on request.
    const local = process.env['REDRESS_DYNAMODB_LOCAL'] ? await measureInCloud(run, 'dynamoDbLocal') : undefined;
    const shortfalls = [
      ...onDisk.shortfalls.map((lack) => `on disk: ${lack}`),
      ...cloud.shortfalls.map((lack) => `dynoxide: ${lack}`),
      ...(local?.shortfalls ?? []).map((lack) => `DynamoDB Local: ${lack}`),
    ];
    return measured(shortfalls, { onDisk: onDisk.counts, dynoxide: cloud.counts, ...(local ? { dynamoDbLocal: local.counts } : {}) });
  },
};

interface Report {
  readonly shortfalls: readonly string[];
  readonly counts: object;
}

/** Reports an error that one part throws, so that the other parts still run. */
const reported = (work: (ending: Ending) => Promise<Report>): Promise<Report> =>
  withCleanup(work).catch((error: Error) => ({ shortfalls: [error.message], counts: {} }));

const measureOnDisk = ({ form, seed, progress }: Run) =>
  reported(async (ending) => {
    const plan: Plan = { ...onDiskPlans[form], seed, progress: (line) => progress(`on disk: ${line}`) };
    const place = site(ending);
    const ground = {
      place,
      get store() {
        return place.open().store;
      },
      alerts: () => alertsIn(place),
    };
    return reportOf(await killAgainAndAgain(ending, ground, plan), plan, { timed: form === 'full', strict: form === 'full' });
  });

/** Measures the same with faults in the calls of AWS. The faults make recoveries slow, so recoveries have no limit here. */
const measureInCloud = ({ form, seed, progress }: Run, database: DatabaseName) =>
  reported(async (ending) => {
    const plan: Plan = { ...cloudPlans[form], seed, progress: (line) => progress(`${database}: ${line}`) };
    const ground = await brokenCloud(ending, database, seed);
    const { shortfalls, counts } = reportOf(await killAgainAndAgain(ending, ground, plan), plan, { timed: false, strict: form === 'full' });
    const landed = ground.landed();
    const missing = Object.entries(landed.kinds).flatMap(([kind, calls]) => (Object.keys(calls).length === 0 ? [kind] : []));
    const wanted = form === 'full' && missing.length > 0 ? [`never happened: ${missing.join(', ')}`] : [];
    return { shortfalls: [...shortfalls, ...wanted], counts: { ...counts, ...landed } };
  });
