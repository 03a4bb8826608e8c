import type { FingerprintFigures, SampleTask } from '#core/notifications/message';
import type { Clock } from '#ports/clock';
import type { Tallies } from '#ports/tallies';
import { type ExceptionGroup, exceptionGroups } from '#roles/exceptions/groups';

const hourMs = 3_600_000;
/** Figures that were read for one message are reused for other messages within this time. */
const keptMs = 2_000;

/** Returns a function that reads the exact figures of a task's fingerprint since a given hour; undefined for tasks without a fingerprint. */
export function exceptionFigures(
  store: Tallies,
  clock: Pick<Clock, 'now'>,
): (sample: SampleTask, since: number) => Promise<FingerprintFigures | undefined> {
  let kept: { readonly at: number; readonly hour: number; readonly groups: Promise<readonly ExceptionGroup[]> } | undefined;
  return async ({ fingerprint }, since) => {
    if (fingerprint === undefined) return undefined;
    const now = clock.now();
    const hour = since - (since % hourMs);
    if (!kept || kept.hour !== hour || now - kept.at >= keptMs) kept = { at: now, hour, groups: exceptionGroups(store, now, hour) };
    const group = (await kept.groups).find((each) => each.fingerprint === fingerprint);
    return group && { count: group.count, open: group.open, lastAt: group.lastAt };
  };
}
