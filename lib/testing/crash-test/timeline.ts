interface Entry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly order: number;
  readonly run: () => void | Promise<void>;
}

/** Virtual time. Events run one after another; each begins when all code woken by the last one waits again. */
export class Timeline {
  now: number;
  events = 0;
  private readonly entries: Entry[] = [];
  /** Polls that only another event can answer. They do not advance the time alone. */
  private readonly looks: Entry[] = [];
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

  /** Schedules a poll that finds nothing until another event has happened. Time does not stop for it. */
  whenSomethingHappens(ms: number, run: Entry['run']): void {
    this.looks.push({ at: this.now + Math.max(0, ms), order: 0, run });
  }

  /** Runs the polls that are due by the next event, once each. */
  private takeLooks(): void {
    const next = this.entries[0]?.at ?? Number.NEGATIVE_INFINITY;
    const due = this.looks.filter(({ at }) => at <= next);
    if (due.length === 0) return;
    this.looks.splice(0, this.looks.length, ...this.looks.filter((each) => !due.includes(each)));
    for (const { run } of due) this.after(next - this.now, run);
  }

  /** Runs the next event. Returns false if none is left. */
  async step(): Promise<boolean> {
    this.takeLooks();
    const entry = this.entries.shift();
    if (!entry) return false;
    this.now = entry.at;
    this.events += 1;
    await entry.run();
    // Woken code runs until it waits here again. Node reaches the next tick when no promise has anything left to do.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    return true;
  }
}
