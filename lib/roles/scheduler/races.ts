/**
 * What a message does that lost the race for its order. The first attempts are repeated at once, with pauses that grow.
 * Then the message is posted anew: each attempt loads the whole order, and DynamoDB bills a refused write like any other,
 * so that many answers to one wide order would use up what its partition takes.
 */
export const attemptsMax = 5;

/** Before the attempt with this number, from 2 on: up to 10, 40, 160, 640 ms. */
export const pauseMs = (name: string, attempt: number): number => hashOf(`${name}/${attempt}`) % (10 * 4 ** (attempt - 2));

/** So many answers come back together: those to one order are one write. */
const togetherMax = 10;
const slotMs = 1000;
const slotsMax = 60;

/**
 * When the message is delivered again: in one of as many seconds as the order has tens of activities at work, for each
 * of them may have an answer under way. Fewer are left after each write, so the seconds that follow are fewer as well.
 */
export function postponedMs(name: string, activities: number): number {
  const slots = Math.max(1, Math.min(slotsMax, Math.ceil(activities / togetherMax)));
  return slotMs * (1 + (hashOf(name) % slots));
}

/** Derived from names instead of chance, so that a run can be repeated. */
function hashOf(text: string): number {
  let hash = 5381;
  for (const character of text) hash = (hash * 33 + character.charCodeAt(0)) >>> 0;
  return hash;
}
