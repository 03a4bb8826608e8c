import { createHash } from 'node:crypto';

const pendingMax = 32_768;

interface Entry {
  readonly at: number;
  readonly sequence: number;
  readonly what: string;
  readonly run: () => void | Promise<void>;
}

/**
 * The virtual time of a simulated system. All waiting happens here, so events never overlap, and the same random seed always
 * gives the same run.
 */
export class Timeline {
  now: number;
  events = 0;
  /** A binary heap by time and sequence. */
  private readonly entries: Entry[] = [];
  /** Polls that only another event can answer. A poll runs with the first event after its time, and never by itself. */
  private polls: Omit<Entry, 'sequence'>[] = [];
  private readonly trace = createHash('sha256');
  /** Text that is not hashed yet. One large piece costs less than many small ones. */
  private pending = '';
  private sequence = 0;

  constructor(start: number) {
    this.now = start;
  }

  /** Whether no event is scheduled. */
  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  /** Schedules an event. */
  after(ms: number, what: string, run: Entry['run']): void {
    const entry = { at: this.now + Math.max(0, ms), sequence: ++this.sequence, what, run };
    const { entries } = this;
    let at = entries.length;
    entries.push(entry);
    for (let above = (at - 1) >> 1; at > 0 && isEarlier(entry, entries[above] as Entry); above = (at - 1) >> 1) {
      entries[at] = entries[above] as Entry;
      at = above;
      entries[at] = entry;
    }
  }

  /** Runs the next event until everything waits again; rejects if none is left. */
  async step(): Promise<void> {
    this.takePolls();
    const entry = this.take();
    if (!entry) throw new Error('No event is left.');
    this.now = entry.at;
    this.events += 1;
    this.note(`${entry.at} ${entry.what}\n`);
    await entry.run();
    await idle();
  }

  /** Schedules a poll that finds nothing until another event has happened. It runs with the first event after its time. */
  whenSomethingHappens(ms: number, what: string, run: Entry['run']): void {
    this.polls.push({ at: this.now + Math.max(0, ms), what, run });
  }

  /** Schedules the polls whose time has come by the next event, at the time of that event. Each runs once. */
  private takePolls(): void {
    const next = this.entries[0]?.at;
    if (next === undefined || this.polls.length === 0) return;
    const due = this.polls.filter(({ at }) => at <= next);
    this.polls = this.polls.filter(({ at }) => at > next);
    for (const { what, run } of due) this.after(next - this.now, what, run);
  }

  /** Adds text to the fingerprint. */
  note(text: string): void {
    this.pending += text;
    if (this.pending.length > pendingMax) this.hash();
  }

  /** Returns a hash that is equal for two runs with the same events at the same times. */
  fingerprint(): string {
    this.hash();
    return this.trace.copy().digest('hex').slice(0, 16);
  }

  private hash(): void {
    this.trace.update(this.pending);
    this.pending = '';
  }

  private take(): Entry | undefined {
    const { entries } = this;
    const [first] = entries;
    const last = entries.pop();
    if (!first || !last || first === last) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = last;
      let to = at;
      for (const child of [left, right]) {
        const entry = entries[child];
        if (entry && isEarlier(entry, least)) [least, to] = [entry, child];
      }
      entries[at] = least;
      if (to === at) return first;
      at = to;
    }
  }
}

const isEarlier = (one: Entry, other: Entry): boolean => one.at < other.at || (one.at === other.at && one.sequence < other.sequence);

/**
 * Resolves when every woken function waits for the timeline again. In a promise callback, as here, Node runs a next tick only after
 * all other promise callbacks, and nothing in a simulated system waits for anything else.
 */
const idle = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
