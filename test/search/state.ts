/** A state of the world: a number for everything in it, at these places. */
export type State = Int32Array;
export const at = {
  record: 0,
  /** Milliseconds since the search's time began. */
  now: 1,
  queue: 2,
  effects: 3,
  seen: 4,
  crashes: 5,
  lost: 6,
  hurries: 7,
  cancels: 8,
  submission: 9,
  cancellation: 10,
} as const;
export const schedulerAt = [11, 12] as const;
/** Places of the supervisors; the place after each one holds its last wake-up. */
export const supervisorAt = [13, 15] as const;
export const agentAt = [17, 18] as const;
export const width = 19;
/** Places of runs in progress. */
export const places: readonly number[] = [at.submission, at.cancellation, ...schedulerAt, ...supervisorAt, ...agentAt];

export const begun = Date.UTC(2026, 0, 1);

export const get = (state: State, place: number): number => state[place] ?? 0;
export const copy = (state: State): State => state.slice();
export const equal = (one: State, other: State): boolean => one.every((value, index) => value === other[index]);
export const differsOnlyIn = (place: number, one: State, other: State): boolean =>
  one.every((value, index) => index === place || value === other[index]);
export const now = (state: State): number => begun + get(state, at.now);
export const isSupervisor = (place: number): boolean => place === supervisorAt[0] || place === supervisorAt[1];
export const isAgent = (place: number): boolean => place === agentAt[0] || place === agentAt[1];

/** Swaps two equal parts, each with the given count of numbers, if the second one is greater. */
export function swapIfLess(state: State, one: number, other: number, count: number): void {
  for (let index = 0; index < count; index++) {
    const difference = get(state, one + index) - get(state, other + index);
    if (difference > 0) return;
    if (difference === 0) continue;
    for (let place = 0; place < count; place++) {
      const kept = get(state, one + place);
      state[one + place] = get(state, other + place);
      state[other + place] = kept;
    }
    return;
  }
}
