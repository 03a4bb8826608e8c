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
  /** Looks again and again at what only something else can change: none is worth a step of time of its own. */
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

  /** The same for whoever would find nothing new until something else has happened: time does not stop for it. */
  whenSomethingHappens(ms: number, run: Entry['run']): void {
    this.looks.push({ at: this.now + Math.max(0, ms), order: 0, run });
  }

  /** What has come due by the time of the next entry looks then, once, however long that was. */
  private takeLooks(): void {
    const next = this.entries[0]?.at ?? Number.NEGATIVE_INFINITY;
    const due = this.looks.filter(({ at }) => at <= next);
    if (due.length === 0) return;
    this.looks.splice(0, this.looks.length, ...this.looks.filter((each) => !due.includes(each)));
    for (const { run } of due) this.after(next - this.now, run);
  }

  /** False where nothing is left that could happen. */
  async step(): Promise<boolean> {
    this.takeLooks();
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
