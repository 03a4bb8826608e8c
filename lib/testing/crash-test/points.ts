/**
 * Where a process dies at a call of something outside of it: `before` it has any effect; once it is `applied`, without an
 * answer; or `after` the answer came, once all that follows from it at once has been done.
 */
export type Position = 'before' | 'applied' | 'after';

export const positions: readonly Position[] = ['before', 'applied', 'after'];

/** A call at which a process may die: of the store, the channel, the publisher, or of a remote service. */
export interface Point {
  /** Which call of its run it is, counted from 1. */
  readonly number: number;
  /** Port and method, or operation: `store.update`, `payment.charge`. */
  readonly site: string;
  /** Who calls, and what about: `scheduler: store.update, rev 3`. */
  readonly where: string;
}

export interface Crash {
  readonly number: number;
  readonly position: Position;
}

/** `17 applied` */
export const crashText = ({ number, position }: Crash): string => `${number} ${position}`;

/** @throws TypeError where it is none. */
export function crashIn(text: string): Crash {
  const [, number, position] = /^(\d+) (before|applied|after)$/.exec(text) ?? [];
  if (number === undefined)
    throw new TypeError(`"${text}" is no crash: "17 applied" is one, "before" and "after" are the other positions.`);
  return { number: Number(number), position: position as Position };
}
