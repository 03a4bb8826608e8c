import type { StateRecord } from '#ports/records';
import { at, isSupervisor, schedulerAt } from './state.ts';

/** The name of a role in the records that it reads and writes: two schedulers differ only in their place. */
export const me = 'host-me';

/** Places of the roles that write under a name, and those names. */
export const hostsAt = [schedulerAt[0], schedulerAt[1], at.submission, at.cancellation] as const;
const hosts = ['host-A', 'host-B', 'host-submission', 'host-cancellation'] as const;
const mirrored: { readonly [name: string]: string } = { 'host-A': 'host-B', 'host-B': 'host-A' };

const namesFor = (place: number): readonly (readonly [inside: string, outside: string])[] => {
  if (place === schedulerAt[0])
    return [
      [me, 'host-A'],
      ['host-other', 'host-B'],
    ];
  if (place === schedulerAt[1])
    return [
      [me, 'host-B'],
      ['host-other', 'host-A'],
    ];
  return place === at.submission ? [[me, 'host-submission']] : [[me, 'host-cancellation']];
};

/** Returns a number below 16, the same for roles with the same view of a record. */
export const viewOf = (place: number): number => (isSupervisor(place) ? 1 : Math.min(15, place));

/**
 * Returns a record as the role at that place sees it. A supervisor has no name, and does not read the names of others.
 */
export function seenFrom(record: StateRecord, place: number): StateRecord {
  if (isSupervisor(place)) return { ...record, lockedBy: record.lockedBy && 'somebody', writeIds: [] };
  return renamed(record, (name) => namesFor(place).find(([, outside]) => outside === name)?.[0] ?? name);
}

/** Returns the record that was written there, as it looks from outside. */
export const seenFromOutside = (record: StateRecord, place: number): StateRecord =>
  renamed(record, (name) => namesFor(place).find(([inside]) => inside === name)?.[1] ?? name);

/**
 * Drops names that no longer matter. The id of a write matters as long as its writer may look for it, and the holder of
 * the lease matters as well. `busy`: whether each of `hostsAt` has a run. `swaps`: the two schedulers change places.
 */
export function forgetting(record: StateRecord, busy: readonly boolean[], swaps: boolean): StateRecord {
  const { lockedBy, writeIds } = swaps ? renamed(record, (name) => mirrored[name] ?? name) : record;
  const isBusy = (writeId: string) => hosts.some((host, index) => busy[index] && writeId.startsWith(`${host}:`));
  const left = writeIds.map(({ id }) => ({ id: isBusy(id) ? id : '-', rev: 0 }));
  const from = left.findIndex(({ id }) => id !== '-');
  const isIdle = hosts.some((host) => host === lockedBy) && !busy.includes(true);
  return { ...record, lockedBy: isIdle ? 'host-idle' : lockedBy, writeIds: from < 0 ? [] : left.slice(from) };
}

function renamed(record: StateRecord, name: (host: string) => string): StateRecord {
  const writeIds = record.writeIds.map(({ id, rev }) => {
    const end = id.lastIndexOf(':');
    return { id: end < 0 ? id : name(id.slice(0, end)) + id.slice(end), rev };
  });
  return { ...record, lockedBy: record.lockedBy === null ? null : name(record.lockedBy), writeIds };
}
