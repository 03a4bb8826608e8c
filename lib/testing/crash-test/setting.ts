import type { Setting } from '#testing/laws/law';
import { clientName, responseQueue, type Scenario } from './scenario.ts';

/** The facts that depend on the run. */
type Facts = Pick<Setting, 'now' | 'quietSince' | 'closedForMs' | 'toleranceMs' | 'maxFailures' | 'claimsOnSubmit' | 'announcesProcessed'>;

/** Returns the setting of a crash test. No clock jumps, no process stands still, and nobody forges replies. */
export const settingOf = ({ app: { agents }, writesAndSendsAtomically }: Scenario, facts: Facts): Setting => ({
  ...facts,
  client: clientName,
  responseQueue,
  referenceOf: () => undefined,
  agents,
  declaredFaults: agents.flatMap(({ operations }) => Object.values(operations).flatMap(({ faults = [] }) => faults)),
  undeclaredFaults: undefined,
  answersNameTheirKey: false,
  secretWord: undefined,
  forgedWord: undefined,
  redactedValues: { inputs: {}, outputs: {} },
  signals: undefined,
  mayWait: true,
  processesAllMessages: true,
  writesAndSendsAtomically,
  standsStillMaxMs: 0,
});
