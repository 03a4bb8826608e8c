import type { Setting } from '#testing/laws/law';
import { ordinary } from '#testing/laws/ordinary';
import { clientName, responseQueue, type Scenario } from './scenario.ts';

/** The facts that depend on the run. */
type Facts = Pick<Setting, 'now' | 'quietSince' | 'closedForMs' | 'toleranceMs' | 'maxFailures' | 'claimsOnSubmit' | 'announcesProcessed'>;

/** Returns the setting of a crash test. An order may wait for a signal that never comes. */
export const settingOf = ({ app: { agents }, writesAndSendsAtomically }: Scenario, facts: Facts): Setting => ({
  ...ordinary(agents),
  ...facts,
  client: clientName,
  responseQueue,
  mayWait: true,
  writesAndSendsAtomically,
});
