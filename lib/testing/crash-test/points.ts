/**
 * The moment of a crash at an external call: `before` its effect, `applied` (after the effect, before the answer), or `after` the answer,
 * once the process has run the code that directly follows the answer.
 */
export type Position = 'before' | 'applied' | 'after';

export const positions: readonly Position[] = ['before', 'applied', 'after'];

/** A call at which a process can crash: of the store, the queues, the event bus or a remote service. */
export interface Point {
  /** The number of the call in its run, from 1. */
  readonly number: number;
  /** Port and method, or operation: `store.update`, `payment.charge`. */
  readonly site: string;
  /** The origin and the call: `scheduler: store.update (rev 3)`. */
  readonly where: string;
}

export interface Crash {
  readonly number: number;
  readonly position: Position;
}

/** Returns the name of a crash: `17 applied`. */
export const crashText = ({ number, position }: Crash): string => `${number} ${position}`;

/** @throws TypeError for invalid text. */
export function crashIn(text: string): Crash {
  const [, number, position] = /^(\d+) (before|applied|after)$/.exec(text) ?? [];
  if (number === undefined)
    throw new TypeError(`Invalid crash "${text}": expected a number and "before", "applied" or "after", such as "17 applied".`);
  return { number: Number(number), position: position as Position };
}
