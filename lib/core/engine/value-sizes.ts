import { type Json, utf8Bytes } from '#core/data/json';
import type { State } from '#core/data/state';

/** The most bytes that its number and its time add to a journal line. */
export const numberedBytes = 40;
/** The bytes of `,"activities":`, which stands between the parts of a state that `ofState` measures. */
const beforeActivities = 14;

/**
 * A cache of the UTF-8 bytes of values as JSON. Immutable objects are measured once: a state shares nearly all of its
 * parts with the state before.
 */
export class Sizes {
  private readonly measured = new WeakMap<object, number>();

  /** Returns the bytes of an immutable value. */
  of(value: unknown): number {
    if (typeof value !== 'object' || value === null) return utf8Bytes((value ?? null) as Json);
    const known = this.measured.get(value);
    if (known !== undefined) return known;
    const bytes = this.around(value);
    this.measured.set(value, bytes);
    return bytes;
  }

  /** Returns the bytes of a state, whose activities still grow. */
  ofState({ activities, ...rest }: State): number {
    return this.around(rest) + beforeActivities + this.around(activities);
  }

  /** Returns the bytes of an object or list that may still get other parts. Each part is immutable. */
  around(value: object): number {
    const parts = Array.isArray(value) ? value.map((entry) => this.of(entry)) : this.fieldsOf(value);
    return 2 + Math.max(0, parts.length - 1) + parts.reduce((sum, part) => sum + part, 0);
  }

  private fieldsOf(value: object): readonly number[] {
    return Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [utf8Bytes(name) + 1 + this.of(field)]));
  }
}
