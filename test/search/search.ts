import type { Scenario } from './scenarios.ts';
import { type State, width } from './state.ts';
import { World } from './world.ts';

export interface Found {
  readonly states: number;
  readonly transitions: number;
  /** Steps of the longest of the shortest ways. */
  readonly depth: number;
  /** Places in runs of roles that were looked at. */
  readonly places: number;
  readonly ends: number;
  /** False where the search was stopped before its end. */
  readonly complete: boolean;
  readonly wrong?: { readonly what: string; readonly story: readonly string[] };
}

/** States beside each other in chunks: one array of all of them would have to be copied when it grows. */
class Rows<A extends Int32Array | Uint32Array> {
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

/** Known states by 64 bits of each: two of ten million look the same with a chance of one in four hundred thousand. */
class Known {
  private keys = new Uint32Array(1 << 21);
  private numbers = new Uint32Array(1 << 20);
  private size = 0;

  /** Its number; the given one where it is new. */
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

/** The last step of MurmurHash3: every bit of what goes in changes half of what comes out. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Looks at every state that can come about, nearest first: what is found wrong has the shortest story that there is. */
export async function search(
  scenario: Scenario,
  { statesMax = Number.POSITIVE_INFINITY, progress = () => {} }: { statesMax?: number; progress?: (line: string) => void } = {},
): Promise<Found> {
  const world = new World(scenario);
  const states = new Rows(width, (length) => new Int32Array(length));
  /** From which state each was found, and at which place among its successors. */
  const ways = new Rows(2, (length) => new Uint32Array(length));
  const depths: number[] = [];
  /** Where each state's successors without any fault begin. */
  const froms = new Rows(1, (length) => new Uint32Array(length));
  const edges = new Rows(1, (length) => new Uint32Array(length));
  const known = new Known();
  let transitions = 0;
  let ends = 0;
  let depth = 0;
  let levelEnd = 1;

  async function successorsOf(state: State) {
    for (;;) {
      const successors = world.successors(state);
      if (successors) return successors;
      await world.runs.look();
    }
  }

  const found = (complete: boolean, wrong?: Found['wrong']): Found => ({
    states: states.length,
    transitions,
    depth,
    places: world.runs.size,
    ends,
    complete,
    ...(wrong ? { wrong } : {}),
  });

  async function story(number: number, last?: number): Promise<readonly string[]> {
    const way: number[] = last === undefined ? [] : [last];
    for (let at = number; at > 0; at = ways.at(at)[0] as number) way.unshift(ways.at(at)[1] as number);
    const lines: string[] = [];
    let state = world.first();
    for (const [index, choice] of way.entries()) {
      const successor = (await successorsOf(state))[choice];
      if (!successor) throw new Error('A state was taken for another one.');
      state = successor.state;
      lines.push(`${index + 1}. ${successor.told()}   [${world.outside.told(state)}]`);
    }
    return lines;
  }

  const first = world.first();
  states.push(first);
  ways.push([0, 0]);
  known.add(first, 0);
  for (let number = 0; number < states.length; number++) {
    if (number === levelEnd) {
      depth += 1;
      depths.push(levelEnd);
      levelEnd = states.length;
      progress(`step ${depth}: ${states.length} states, ${transitions} transitions, ${world.runs.size} places`);
    }
    if (states.length >= statesMax) return found(false);
    const state = states.at(number).slice();
    const successors = await successorsOf(state);
    froms.push([edges.length]);
    let moves = 0;
    for (const [choice, successor] of successors.entries()) {
      transitions += 1;
      if (successor.wrong !== undefined) return found(false, { what: successor.wrong, story: await story(number, choice) });
      const next = known.add(successor.state, states.length);
      if (next === states.length) {
        states.push(successor.state);
        ways.push([number, choice]);
      }
      if (successor.free && next !== number) {
        moves += 1;
        edges.push([next]);
      }
    }
    if (moves > 0) continue;
    ends += 1;
    const [wrong] = world.outside.wrongAtEnd(state);
    if (wrong !== undefined) return found(false, { what: wrong, story: await story(number) });
  }
  froms.push([edges.length]);
  const stuck = deadEnd(states.length, froms, edges);
  return stuck === undefined
    ? found(true)
    : found(true, { what: 'from here it never comes to an end, though nothing goes wrong any more', story: await story(stuck) });
}

/** The first state from which no end can be reached without a fault. */
function deadEnd(count: number, froms: Rows<Uint32Array>, edges: Rows<Uint32Array>): number | undefined {
  const ends = new Uint8Array(count);
  const begin = (number: number) => froms.at(number)[0] as number;
  for (let changed = true; changed; ) {
    changed = false;
    for (let number = count - 1; number >= 0; number--) {
      if (ends[number] === 1) continue;
      const [from, to] = [begin(number), begin(number + 1)];
      let reaches = from === to;
      for (let edge = from; edge < to && !reaches; edge++) reaches = ends[edges.at(edge)[0] as number] === 1;
      if (!reaches) continue;
      ends[number] = 1;
      changed = true;
    }
  }
  const stuck = ends.indexOf(0);
  return stuck < 0 ? undefined : stuck;
}
