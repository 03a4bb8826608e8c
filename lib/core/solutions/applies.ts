import type { Json } from '#core/data/json';
import { fillRule } from '#core/rules/language';
import type { Solution } from './solution.ts';

/** The exception for which a person looks for a solution, with its order. */
export interface ExceptionFacts {
  readonly fingerprint?: string | undefined;
  /** The exception and its order, as the HTTP API shows them, without secrets. Absent: no condition is true. */
  readonly exception?: Json | undefined;
  readonly order?: Json | undefined;
  /** The present time, in RFC 3339. */
  readonly at: string;
}

/** The reason why a solution is suggested. */
export type Why = 'same-fingerprint' | 'condition';

/**
 * Returns why a solution applies to an exception; undefined if it does not. If the solution has a condition, that alone
 * decides, and an equal fingerprint only changes the reason. Without a condition, the fingerprint decides. A condition that cannot be
 * evaluated is not true.
 */
export function whyApplies(
  { appliesWhen, fingerprints }: Pick<Solution, 'appliesWhen' | 'fingerprints'>,
  facts: ExceptionFacts,
): Why | undefined {
  const isAlike = facts.fingerprint !== undefined && fingerprints.includes(facts.fingerprint);
  if (appliesWhen === undefined) return isAlike ? 'same-fingerprint' : undefined;
  if (!isTrue(appliesWhen, facts)) return undefined;
  return isAlike ? 'same-fingerprint' : 'condition';
}

function isTrue(condition: string, { exception, order, at }: ExceptionFacts): boolean {
  if (exception === undefined || order === undefined) return false;
  const found = fillRule({ $cel: condition }, { exception, order, outputs: {}, variables: {}, at });
  return found.ok && found.value === true;
}
