import { isObject, type Json } from '#core/data/json';
import { mask } from '#core/definition/secrets';

/** Puts the present value in place of each mask. */
export function unmasked(given: Json, present: Json | undefined): Json {
  if (given === mask) return present ?? mask;
  if (Array.isArray(given)) return given.map((entry, index) => unmasked(entry, Array.isArray(present) ? present[index] : undefined));
  if (!isObject(given)) return given;
  const there = isObject(present) ? present : {};
  return Object.fromEntries(Object.entries(given).map(([key, entry]) => [key, unmasked(entry as Json, there[key] as Json | undefined)]));
}
