/** Gives equal values one small number. Number 0 means absent. */
export class Table<T> {
  private readonly ids = new Map<string, number>();
  private readonly values: T[] = [];

  get size(): number {
    return this.values.length;
  }

  /** `key` decides equality; by default the JSON text does. */
  id(value: T, key = JSON.stringify(value)): number {
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    this.values.push(value);
    this.ids.set(key, this.values.length);
    return this.values.length;
  }

  of(id: number): T {
    const value = this.values[id - 1];
    if (value === undefined) throw new Error(`There is no number ${id}.`);
    return value;
  }
}

/** Cached results for several numbers: see `joined`. */
export class Memo<T> {
  private readonly known = new Map<number, T>();

  of(key: number, make: () => T): T {
    const before = this.known.get(key);
    if (before !== undefined) return before;
    if (!Number.isSafeInteger(key)) throw new Error(`${key} does not tell apart what it is made of.`);
    const made = make();
    this.known.set(key, made);
    return made;
  }
}

/** Combines two numbers into one: the second one is below this power of two. */
export function joined(one: number, bits: number, other: number): number {
  if (other >= 2 ** bits) throw new Error(`${other} has more than ${bits} bits.`);
  return one * 2 ** bits + other;
}
