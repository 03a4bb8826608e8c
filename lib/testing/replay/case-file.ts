import { isObject } from '#core/data/json';
import { caseVersion, type OrderCase } from '#roles/cases/case';

/** Thrown for content that is not a case, or for a moment that the order never had. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
}

/**
 * Checks the parsed content of a case file, and returns a copy of it.
 *
 * @throws ReplayError with the place and a remedy if the content is not a case.
 */
export function caseIn(given: unknown): OrderCase {
  if (!isObject(given)) throw new ReplayError(`Expected the parsed content of a case file. ${remedy}`);
  const { v } = given;
  if (v !== caseVersion) throw new ReplayError(`v: expected a case of version ${caseVersion}, got ${JSON.stringify(v)}. ${remedy}`);
  const missing = ['order', 'head', 'definition'].find((field) => !isObject(given[field]));
  if (missing !== undefined) throw new ReplayError(`${missing}: expected an object. ${remedy}`);
  const { journal } = given;
  if (!Array.isArray(journal) || journal.length === 0) throw new ReplayError(`journal: expected the lines of the journal. ${remedy}`);
  // In jest, objects of `Response.json()` belong to another realm, and expressions cannot read them.
  return JSON.parse(JSON.stringify(given)) as OrderCase;
}

const remedy = 'Export the order again, with the version of Redress that replays it: redress order export ID > case.json';
