import type { Setting } from './law.ts';

/** The part of a setting that a world decides for itself. */
type OfWorld =
  | 'client'
  | 'responseQueue'
  | 'mayWait'
  | 'toleranceMs'
  | 'now'
  | 'maxFailures'
  | 'claimsOnSubmit'
  | 'writesAndSendsAtomically'
  | 'announcesProcessed'
  | 'closedForMs'
  | 'quietSince';

/** Returns the setting of an ordinary app: its services answer as they like, no value is secret, no clock jumps, and nobody forges replies. */
export const ordinary = (agents: Setting['agents']): Omit<Setting, OfWorld> => ({
  agents,
  declaredFaults: agents.flatMap(({ operations }) => Object.values(operations).flatMap(({ faults = [] }) => faults)),
  undeclaredFaults: undefined,
  referenceOf: () => undefined,
  answersNameTheirKey: false,
  audits: false,
  isDryRule: () => false,
  secretWord: undefined,
  forgedWord: undefined,
  redactedValues: { inputs: {}, outputs: {} },
  signals: undefined,
  processesAllMessages: true,
  standsStillMaxMs: 0,
});
