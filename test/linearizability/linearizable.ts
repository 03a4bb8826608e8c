/** An operation on a shared object, from its call to its answer. */
export interface Operation<Input, Output> {
  /** Measured by one clock for all callers. */
  readonly called: number;
  /** Infinity without an answer: it may have happened at any time since, or never. */
  readonly answered: number;
  readonly input: Input;
  /** Absent without an answer. */
  readonly output?: Output;
}

/** The object as it would be if all operations ran one after the other. */
export interface Sequential<State, Input, Output> {
  readonly first: State;
  /**
   * Returns the next state; undefined if the object would not have answered so. Without an output, any answer is valid.
   */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
  /** Equal for equal states. */
  key(state: State): string;
}

/** A call or an answer, in the order of their times. */
interface Entry<Input, Output> {
  readonly operation: Operation<Input, Output>;
  readonly number: number;
  /** The answer that belongs to a call; absent in an answer. */
  readonly answer?: Entry<Input, Output>;
  before: Entry<Input, Output> | undefined;
  after: Entry<Input, Output> | undefined;
}

/** An operation at its place in the order, and the state before it. `surely`: no other place would be better. */
interface Placed<State, Input, Output> {
  readonly entry: Entry<Input, Output>;
  readonly state: State;
  readonly surely: boolean;
}

/**
 * Whether the operations could have happened one after the other, each between its call and its answer: the algorithm
 * of Wing and Gong. Lowe's addition avoids trying the same state twice.
 */
export function isLinearizable<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  thing: Sequential<State, Input, Output>,
): boolean {
  return new Linearization(history, thing).exists();
}

class Linearization<State, Input, Output> {
  private readonly thing: Sequential<State, Input, Output>;
  private readonly head: Entry<Input, Output>;
  private readonly done: Uint8Array;
  private readonly tried = new Set<string>();
  private readonly placed: Placed<State, Input, Output>[] = [];
  private state: State;
  /** Answered operations without a place. Operations without an answer need none. */
  private open: number;

  constructor(history: readonly Operation<Input, Output>[], thing: Sequential<State, Input, Output>) {
    this.thing = thing;
    this.state = thing.first;
    this.head = linked(history);
    this.done = new Uint8Array(history.length);
    this.open = history.filter(wasAnswered).length;
  }

  exists(): boolean {
    let from = this.head.after;
    while (this.open > 0) {
      if (from === this.head.after && this.placeSurely()) {
        from = this.head.after;
        continue;
      }
      if (this.placeOne(from)) from = this.head.after;
      else {
        const last = this.takeBack();
        if (!last) return false;
        from = last.after;
      }
    }
    return true;
  }

  /**
   * An operation that changes nothing and whose answer fits the current state belongs here: no other order would be
   * better.
   */
  private placeSurely(): boolean {
    for (let entry = this.head.after; entry?.answer; entry = entry.after) {
      const { operation } = entry;
      const next = wasAnswered(operation) ? this.thing.step(this.state, operation.input, operation.output) : undefined;
      if (next === undefined || this.thing.key(next) !== this.thing.key(this.state)) continue;
      this.place(entry, next, true);
      return true;
    }
    return false;
  }

  /** The first candidate up to the first answer: operations called after that answer come later. */
  private placeOne(from: Entry<Input, Output> | undefined): boolean {
    for (let entry = from; entry?.answer; entry = entry.after) {
      const next = this.thing.step(this.state, entry.operation.input, entry.operation.output);
      if (next === undefined) continue;
      this.done[entry.number] = 1;
      const situation = `${this.done.join('')} ${this.thing.key(next)}`;
      this.done[entry.number] = 0;
      if (this.tried.has(situation)) continue;
      this.tried.add(situation);
      this.place(entry, next, false);
      return true;
    }
    return false;
  }

  private place(entry: Entry<Input, Output>, next: State, surely: boolean): void {
    this.placed.push({ entry, state: this.state, surely });
    this.state = next;
    this.done[entry.number] = 1;
    if (wasAnswered(entry.operation)) this.open -= 1;
    lift(entry);
  }

  /** Back to the last operation that may have a better place. */
  private takeBack(): Entry<Input, Output> | undefined {
    for (let last = this.placed.pop(); last; last = this.placed.pop()) {
      this.state = last.state;
      this.done[last.entry.number] = 0;
      if (wasAnswered(last.entry.operation)) this.open += 1;
      unlift(last.entry);
      if (!last.surely) return last.entry;
    }
    return undefined;
  }
}

const wasAnswered = ({ answered }: { readonly answered: number }): boolean => answered !== Number.POSITIVE_INFINITY;

/** Calls and answers in the order of their times, after a head; at the same time, calls come first. */
function linked<Input, Output>(history: readonly Operation<Input, Output>[]): Entry<Input, Output> {
  const entries = history.flatMap((operation, number) => {
    const answer: Entry<Input, Output> = { operation, number, before: undefined, after: undefined };
    const call: Entry<Input, Output> = { operation, number, answer, before: undefined, after: undefined };
    return [
      { at: operation.called, entry: call },
      { at: operation.answered, entry: answer },
    ];
  });
  entries.sort((one, other) => one.at - other.at || Number(!one.entry.answer) - Number(!other.entry.answer));
  const head = { before: undefined, after: undefined, number: -1 } as unknown as Entry<Input, Output>;
  let last = head;
  for (const { entry } of entries) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

function lift<Input, Output>(call: Entry<Input, Output>): void {
  for (const entry of [call, call.answer as Entry<Input, Output>]) {
    if (entry.before) entry.before.after = entry.after;
    if (entry.after) entry.after.before = entry.before;
  }
}

function unlift<Input, Output>(call: Entry<Input, Output>): void {
  for (const entry of [call.answer as Entry<Input, Output>, call]) {
    if (entry.before) entry.before.after = entry;
    if (entry.after) entry.after.before = entry;
  }
}
