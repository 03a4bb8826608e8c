import type { FaultClass } from '#core/data/fault';
import { collections } from '#ports/documents';
import type { Tallies, Tally } from '#ports/tallies';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { dayOf } from '#ports/util/days';
import { groupDays, groupShards, hourOf } from './records.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Alike exceptions together: those of one fingerprint. */
export interface ExceptionGroup {
  readonly fingerprint: string;
  readonly type: string;
  readonly class: FaultClass;
  readonly workflow: string;
  readonly step: string | null;
  /** The number of its exceptions in the last 30 days, or since the given time. */
  readonly count: number;
  readonly open: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The number of its exceptions in each of the last 24 hours, the oldest first. */
  readonly perHour: readonly number[];
  readonly sampleOrderId: string;
  readonly sampleMessage: string;
}

/** Returns all groups of the last 30 days, or since the start of a given hour, those with the most open exceptions first. */
export async function exceptionGroups(store: Tallies, now: number, since?: number): Promise<readonly ExceptionGroup[]> {
  const from = Math.max(since ?? 0, now - (groupDays - 1) * dayMs);
  const read = await allSettledOrThrow(
    Array.from({ length: groupShards }, (_, shard) => store.tallies(collections.exceptionGroups(shard), dayOf(from))),
  );
  const alike = Map.groupBy(read.flat(), fingerprintOf);
  const groups = [...alike].flatMap(([fingerprint, tallies]) => groupOf(fingerprint, tallies, from, now) ?? []);
  return groups.toSorted(
    (one, other) => other.open - one.open || other.count - one.count || (one.fingerprint < other.fingerprint ? -1 : 1),
  );
}

const dayIn = ({ id }: Tally): string => id.slice(0, id.indexOf('#'));
const fingerprintOf = ({ id }: Tally): string => id.slice(id.indexOf('#') + 1);

type About = Pick<ExceptionGroup, 'type' | 'class' | 'workflow' | 'step' | 'sampleOrderId' | 'sampleMessage'>;

/** Adds up the tallies of one fingerprint; undefined if none of its exceptions is recent enough. */
function groupOf(fingerprint: string, tallies: readonly Tally[], from: number, now: number): ExceptionGroup | undefined {
  const counted = tallies.filter(({ sums }) => sum(sums['total']) > 0);
  const first = counted.reduce<Tally | undefined>(
    (earliest, each) => (!earliest || each.firstAt < earliest.firstAt ? each : earliest),
    undefined,
  );
  const count = counted.reduce((all, tally) => all + countSince(tally, from), 0);
  if (!first || count === 0) return undefined;
  const notHandled = counted.reduce((all, { sums }) => all + sum(sums['total']) - sum(sums['handled']), 0);
  return {
    fingerprint,
    ...(first.about as unknown as About),
    count,
    open: Math.min(count, notHandled),
    firstAt: Math.min(...counted.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...counted.map(({ lastAt }) => lastAt)),
    perHour: lastHours(counted, now),
  };
}

const sum = (value: number | undefined): number => value ?? 0;

/** Returns how many exceptions of the day of `tally` came at or after the hour of `from`. */
function countSince(tally: Tally, from: number): number {
  const { sums } = tally;
  if (dayIn(tally) !== dayOf(from)) return sum(sums['total']);
  return Object.entries(sums).reduce(
    (all, [name, value]) => (name.startsWith('h') && name !== 'handled' && name >= hourOf(from) ? all + value : all),
    0,
  );
}

function lastHours(tallies: readonly Tally[], now: number): readonly number[] {
  return Array.from({ length: 24 }, (_, index) => {
    const at = now - (23 - index) * hourMs;
    return tallies.reduce((all, tally) => (dayIn(tally) === dayOf(at) ? all + sum(tally.sums[hourOf(at)]) : all), 0);
  });
}
