import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { commit } from '../tools/commit.ts';
import { Incident } from './live/incident/incident.ts';

/**
 * `npm run bulk:incident [-- --orders 10000 --kills 5 --away 60]` plays an incident on a real system with a data folder: all orders fail
 * for one reason, and an operator finds them as one group and resubmits them in one bulk run with a canary. Meanwhile some orders move on,
 * the process is killed, and the service is away for some seconds. It prints one line of JSON. The exit code is 1 if an order was lost,
 * instructed twice or done twice, or if the figures of the run differ from a recount (X-9, W-07).
 */
const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '5' },
    away: { type: 'string', default: '60' },
  },
});
const [orders, kills, awaySeconds] = [Number(values.orders), Number(values.kills), Number(values.away)];
const folder = mkdtempSync(join(tmpdir(), 'redress-incident-'));
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const incident = new Incident(folder, orders);
try {
  const startedAt = performance.now();
  await incident.start();
  await incident.submitAll();
  const group = await incident.group();
  say(`${group.count} orders in one group ${group.fingerprint}`);
  const gone = await incident.terminateSome(Math.ceil(orders / 100), 0);
  const run = await incident.prepare(group.fingerprint, {
    canary: 10,
    whileFreezing: () => incident.terminateSome(Math.ceil(orders / 100), 1),
  });
  say(`prepared: ${run.feasible} can, ${run.infeasible} cannot, ${run.count} in the set`);
  const moved = await incident.terminateSome(Math.ceil(orders / 50), 2);
  incident.warehouse.health = 'well';
  await incident.act(run.id, 'start');
  await incident.until(run.id, ({ state, paused }) => state === 'paused' && paused?.by === 'canary');
  say('the canary of 10 has been applied');
  await incident.act(run.id, 'resume');
  const appliedAtKills = Array.from({ length: kills }, (_, index) => Math.round((orders * (index + 1)) / (kills + 2)));
  let pausedByBreaker = 0;
  for (const [index, applied] of appliedAtKills.entries()) {
    await incident.until(run.id, (now) => now.applied + now.movedOn + now.refused + now.failed >= applied || now.state === 'done');
    await incident.kill();
    say(`killed at ${applied} of ${orders}`);
    if (index !== Math.floor(kills / 2)) continue;
    incident.warehouse.health = 'away';
    const since = performance.now();
    while (performance.now() - since < awaySeconds * 1000) {
      const { paused } = await incident.run(run.id);
      if (paused?.by === 'breaker') pausedByBreaker += 1;
      await sleep(1000);
    }
    incident.warehouse.health = 'well';
    say(`the service was away for ${awaySeconds} s; the run was seen paused by the breaker ${pausedByBreaker} times`);
  }
  const end = await incident.until(run.id, ({ state }) => state === 'done' || state === 'stopped');
  say('done; waiting for the last orders');
  await incident.untilNoneAtWork();
  const result = await incident.recount(run.id, { gone, moved });
  const verified = await incident.until(run.id, (now) => now.verified.running === 0);
  const shortfalls = [
    ...result.shortfalls,
    ...(end.state === 'done' ? [] : [`the run is ${end.state}: ${end.stopped?.detail}`]),
    ...(pausedByBreaker > 0 || kills === 0 ? [] : ['the run did not pause while the service was away']),
  ];
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const line = {
    live: 'bulk-incident',
    commit: commit(),
    orders,
    kills: incident.kills,
    seconds,
    ...result.figures,
    verified: verified.verified,
    callsWhileAway: incident.warehouse.callsWhileAway,
    shortfalls,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (shortfalls.length > 0) process.exitCode = 1;
} finally {
  await incident.stop();
  rmSync(folder, { recursive: true, force: true });
}
