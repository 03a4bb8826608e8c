interface Entry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly order: number;
  readonly run: () => void | Promise<void>;
}

/** Virtual time. Whatever waits, waits here: one thing happens after another, and the next begins when nobody goes on by himself. */
export class Timeline {
  now: number;
  events = 0;
  private readonly entries: Entry[] = [];
  private orders = 0;

  constructor(start: number) {
    this.now = start;
  }

  after(ms: number, run: Entry['run']): void {
    const entry = { at: this.now + Math.max(0, ms), order: ++this.orders, run };
    const { entries } = this;
    let from = 0;
    for (let to = entries.length; from < to; ) {
      const middle = (from + to) >> 1;
      if ((entries[middle]?.at ?? 0) <= entry.at) from = middle + 1;
      else to = middle;
    }
    entries.splice(from, 0, entry);
  }

  /** False where nothing is left that could happen. */
  async step(): Promise<boolean> {
    const entry = this.entries.shift();
    if (!entry) return false;
    this.now = entry.at;
    this.events += 1;
    await entry.run();
    // Whoever was woken goes on until he waits here again: Node comes to a next tick when no promise has anything left to do.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    return true;
  }
}
