import { Known, Rows } from './rows.ts';
import type { Scenario } from './scenarios.ts';
import { type State, width } from './state.ts';
import { type Successor, World } from './world.ts';

export interface Found {
  readonly states: number;
  readonly transitions: number;
  /** Steps to the most distant state. */
  readonly depth: number;
  /** Places in runs of roles that were examined. */
  readonly places: number;
  /** States without further events. */
  readonly ends: number;
  /** Whether the search has reached its end, instead of being stopped. */
  readonly complete: boolean;
  /** A violation, and the shortest story that leads to it. */
  readonly wrong?: { readonly what: string; readonly story: readonly string[] };
}

interface Options {
  readonly statesMax?: number;
  readonly progress?: (line: string) => void;
}

/** Examines every reachable state, nearest first. */
export const search = (scenario: Scenario, options: Options = {}): Promise<Found> => new Search(scenario, options).run();

class Search {
  private readonly world: World;
  private readonly statesMax: number;
  private readonly progress: (line: string) => void;
  private readonly known = new Known();
  private readonly states = new Rows(width, (length) => new Int32Array(length));
  /** The predecessor of each state, and its place among the successors. */
  private readonly ways = new Rows(2, (length) => new Uint32Array(length));
  /** The index of the first successor of each state that needs no fault. */
  private readonly froms = new Rows(1, (length) => new Uint32Array(length));
  private readonly edges = new Rows(1, (length) => new Uint32Array(length));
  private transitions = 0;
  private depth = 0;
  private ends = 0;

  constructor(scenario: Scenario, { statesMax = Number.POSITIVE_INFINITY, progress = () => {} }: Options) {
    this.world = new World(scenario);
    this.statesMax = statesMax;
    this.progress = progress;
  }

  async run(): Promise<Found> {
    this.add(this.world.first(), 0, 0);
    let levelEnd = 1;
    for (let number = 0; number < this.states.length; number++) {
      if (number === levelEnd) {
        levelEnd = this.states.length;
        this.depth += 1;
        this.progress(`step ${this.depth}: ${this.states.length} states`);
      }
      if (this.states.length >= this.statesMax) return this.found(false);
      const wrong = await this.visit(number);
      if (wrong) return this.found(false, wrong);
    }
    this.froms.push([this.edges.length]);
    const stuck = this.deadEnd();
    if (stuck === undefined) return this.found(true);
    return this.found(true, { what: 'from here it never ends, though nothing goes wrong any more', story: await this.story(stuck) });
  }

  /** Returns the violation in a state, or on the way from it. */
  private async visit(number: number): Promise<Found['wrong']> {
    const state = this.states.at(number).slice();
    this.froms.push([this.edges.length]);
    let moves = 0;
    for (const [choice, { state: after, free, wrong }] of (await this.successorsOf(state)).entries()) {
      this.transitions += 1;
      if (wrong !== undefined) return { what: wrong, story: await this.story(number, choice) };
      const next = this.add(after, number, choice);
      if (!free || next === number) continue;
      moves += 1;
      this.edges.push([next]);
    }
    if (moves > 0) return undefined;
    this.ends += 1;
    const [wrong] = this.world.environment.wrongAtEnd(state);
    return wrong === undefined ? undefined : { what: wrong, story: await this.story(number) };
  }

  private add(state: State, from: number, choice: number): number {
    const number = this.known.add(state, this.states.length);
    if (number < this.states.length) return number;
    this.states.push(state);
    this.ways.push([from, choice]);
    return number;
  }

  private async successorsOf(state: State): Promise<readonly Successor[]> {
    for (;;) {
      const successors = this.world.successors(state);
      if (successors) return successors;
      await this.world.runs.look();
    }
  }

  /** Returns the first state from which no end can be reached without a fault. */
  private deadEnd(): number | undefined {
    const ends = new Uint8Array(this.states.length);
    const ended = (number: number): boolean => {
      const [from, to] = [this.froms.at(number)[0] ?? 0, this.froms.at(number + 1)[0] ?? 0];
      for (let edge = from; edge < to; edge++) if (ends[this.edges.at(edge)[0] ?? 0] === 1) return true;
      return from === to;
    };
    for (let changed = true; changed; ) {
      changed = false;
      // Most successors have greater numbers, so going backward takes few rounds.
      for (let number = ends.length - 1; number >= 0; number--) {
        if (ends[number] === 1 || !ended(number)) continue;
        ends[number] = 1;
        changed = true;
      }
    }
    const stuck = ends.indexOf(0);
    return stuck < 0 ? undefined : stuck;
  }

  /** Returns the shortest way to a state, as a story; `last` adds one step. */
  private async story(number: number, last?: number): Promise<readonly string[]> {
    const way: number[] = last === undefined ? [] : [last];
    for (let at = number; at > 0; at = this.ways.at(at)[0] ?? 0) way.unshift(this.ways.at(at)[1] ?? 0);
    const lines: string[] = [];
    let state = this.world.first();
    for (const [index, choice] of way.entries()) {
      const successor = (await this.successorsOf(state))[choice];
      if (!successor) throw new Error('A state was taken for another one.');
      state = successor.state;
      lines.push(`${index + 1}. ${successor.told()}   [${this.world.environment.told(state)}]`);
    }
    return lines;
  }

  private found(complete: boolean, wrong?: Found['wrong']): Found {
    const { transitions, depth, ends } = this;
    return { states: this.states.length, transitions, depth, places: this.world.runs.size, ends, complete, ...(wrong ? { wrong } : {}) };
  }
}
