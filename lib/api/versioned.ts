import { etagOf } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';

/** The version of a record that callers replace with `If-Match`; undefined if there is no record. */
type Version = number | undefined;

/** Returns why a caller may not replace a record: an existing one needs `If-Match` with the version that is stored. */
export function conditionRefusal(ifMatch: string | undefined, before: Version): Refusal | undefined {
  if (before !== undefined && ifMatch === undefined) return refuse('precondition-required');
  return ifMatch !== undefined && ifMatch !== (before === undefined ? undefined : etagOf(before)) ? stale(before) : undefined;
}

/** Returns the refusal of a write that another one preceded. Without `If-Match`, the caller expected that there was no record. */
export const lostRefusal = (ifMatch: string | undefined, current: Version): Refusal =>
  ifMatch === undefined ? refuse('precondition-required') : stale(current);

const stale = (current: Version): Refusal => refuse('stale', current === undefined ? {} : { headers: { etag: etagOf(current) } });
