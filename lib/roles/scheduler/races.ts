/**
 * Attempts of a message that loses the race for its order, with growing pauses. Then the message is requeued: each
 * attempt loads the whole order, and DynamoDB bills a refused write like any other. Many replies to one wide order would
 * otherwise exhaust its partition.
 */
export const attemptsMax = 5;

/** Returns the pause before an attempt: up to 10, 40, 160, 640 ms before the second, third, fourth and fifth one. */
export const pauseMs = (name: string, attempt: number): number => hashOf(`${name}/${attempt}`) % (10 * 4 ** (attempt - 2));

/** The number of replies that are received as one batch. Replies to one order share a write. */
const togetherMax = 10;
const slotMs = 1000;
const slotsMax = 60;

/**
 * Returns the delay of a requeued message. Delays are spread over one second for every ten active activities, up to a minute,
 * because each of them may have a reply under way. After each write fewer activities are left, so later delays are shorter.
 */
export function postponedMs(name: string, activities: number): number {
  const slots = Math.max(1, Math.min(slotsMax, Math.ceil(activities / togetherMax)));
  return slotMs * (1 + (hashOf(name) % slots));
}

/** Hashes a name. Hashes replace random numbers, so that a simulation can be repeated. */
function hashOf(text: string): number {
  let hash = 5381;
  for (const character of text) hash = (hash * 33 + character.charCodeAt(0)) >>> 0;
  return hash;
}
