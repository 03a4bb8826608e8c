import type { State } from './state.ts';

/** States side by side in chunks: a single array would have to be copied when it grows. */
export class Rows<A extends Int32Array | Uint32Array> {
  private readonly chunks: A[] = [];
  private readonly columns: number;
  private readonly make: (length: number) => A;
  length = 0;

  constructor(columns: number, make: (length: number) => A) {
    this.columns = columns;
    this.make = make;
  }

  push(row: ArrayLike<number>): void {
    const chunk = (this.chunks[this.length >>> 16] ??= this.make(this.columns << 16));
    chunk.set(row, (this.length & 0xffff) * this.columns);
    this.length += 1;
  }

  at(index: number): A {
    const from = (index & 0xffff) * this.columns;
    return (this.chunks[index >>> 16] as A).subarray(from, from + this.columns) as A;
  }
}

/** Visited states by a hash of 64 bits. With ten million states, a collision has a probability of 1 in 400,000. */
export class Known {
  private keys = new Uint32Array(1 << 21);
  private numbers = new Uint32Array(1 << 20);
  private size = 0;

  /** Returns the number of a state; the given one if the state is new. */
  add(state: State, number: number): number {
    if (this.size * 2 > this.numbers.length) this.grow();
    let [high, low] = [0x9747b28c, 0x3c6ef372];
    for (const value of state) {
      high = mixed(high ^ value);
      low = mixed(Math.imul(low, 31) ^ (value + 0x165667b1));
    }
    return this.put(high >>> 0, (low | 1) >>> 0, number);
  }

  private put(high: number, low: number, number: number): number {
    const mask = this.numbers.length - 1;
    for (let slot = high & mask; ; slot = (slot + 1) & mask) {
      if (this.keys[slot * 2 + 1] === 0) {
        this.keys[slot * 2] = high;
        this.keys[slot * 2 + 1] = low;
        this.numbers[slot] = number;
        this.size += 1;
        return number;
      }
      if (this.keys[slot * 2] === high && this.keys[slot * 2 + 1] === low) return this.numbers[slot] as number;
    }
  }

  private grow(): void {
    const [keys, numbers] = [this.keys, this.numbers];
    this.keys = new Uint32Array(keys.length * 2);
    this.numbers = new Uint32Array(numbers.length * 2);
    this.size = 0;
    for (let slot = 0; slot < numbers.length; slot++)
      if (keys[slot * 2 + 1] !== 0) this.put(keys[slot * 2] as number, keys[slot * 2 + 1] as number, numbers[slot] as number);
  }
}

/** Applies the last step of MurmurHash3: every input bit changes half of the output bits. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
