import type { Config } from '#runtime/config';
import type { Setting } from '#testing/laws/law';
import { ordinary } from '#testing/laws/ordinary';
import { clientName, responseQueue, type Scenario } from './scenario.ts';

/** The facts that change during a run. */
type Facts = Pick<Setting, 'now' | 'closedForMs'>;

/** Returns the setting of a crash test. An order may wait for a signal that never comes. */
export const settingOf = ({ app, writesAndSendsAtomically }: Scenario, config: Config, facts: Facts): Setting => ({
  ...ordinary(app.agents),
  ...facts,
  client: clientName,
  responseQueue,
  mayWait: true,
  // The services of a crash test may fail at any time, so its faults never end.
  quietSince: () => undefined,
  toleranceMs: config.clockToleranceMs,
  maxFailures: config.maxFailures,
  claimsOnSubmit: config.claimOnSubmit,
  announcesProcessed: config.announceProcessed,
  writesAndSendsAtomically,
});
