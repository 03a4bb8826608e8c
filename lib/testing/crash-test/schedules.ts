import type { Embedded } from '#adapters/sqlite/open';
import type { StateHead } from '#ports/records';
import type { Timeline } from '#testing/world/timeline';
import type { Host } from './host.ts';

const sweepMs = 3_600_000;
const never = Number.POSITIVE_INFINITY;

interface Surroundings {
  readonly timeline: Timeline;
  readonly embedded: Embedded;
  /** Returns the heads of all orders. */
  heads(): Iterable<StateHead>;
}

/**
 * Runs the supervisor and the sweeper of the process that is alive. Passes and sweeps that cannot find anything are left out: otherwise
 * each hour of an order that only waits would cost a sweep in each run of the crash test.
 */
export class Schedules {
  private readonly around: Surroundings;
  private host: Host | undefined;
  private startedAt = 0;
  private passAt = never;
  private sweepAt = never;
  /** Whether anything has changed since the last sweep. */
  private hasChanged = true;
  /** Whether the supervisor or the sweeper runs. */
  isRunning = false;

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Begins with a pass, which continues what the last process left. */
  begin(host: Host): void {
    const { timeline } = this.around;
    this.host = host;
    this.startedAt = timeline.now;
    this.isRunning = false;
    this.passAt = never;
    this.sweepAt = never;
    timeline.after(0, `${host.id} supervisor`, () => this.run(host, 'supervisor'));
    this.planAfterChange();
  }

  /** Plans the next pass and the next sweep, after data has changed. */
  planAfterChange(): void {
    this.hasChanged = true;
    this.plan();
  }

  private plan(): void {
    this.planPass();
    this.planSweep();
  }

  private run(host: Host, name: 'supervisor' | 'sweeper'): void {
    if (host.isDead) return;
    this.isRunning = true;
    const ended = () => {
      if (host.isDead) return;
      this.isRunning = false;
      this.plan();
    };
    host.supervise(name, { task: name === 'sweeper' ? 'sweep' : 'pass' }).then(ended, ended);
  }

  /** Plans the next supervisor pass that has work. */
  private planPass(): void {
    const { timeline, embedded } = this.around;
    const { host } = this;
    if (!host || host.isDead || this.isRunning) return;
    const { at } = embedded.database.prepare("SELECT min(worklistAt) AS at FROM states WHERE worklist = 'due'").get() as {
      at: number | null;
    };
    const passAt = at === null ? never : Math.max(timeline.now + host.system.config.supervisorPeriodMs, at);
    if (passAt === this.passAt) return;
    this.passAt = passAt;
    if (at === null) return;
    timeline.after(passAt - timeline.now, `${host.id} supervisor`, () => {
      if (this.passAt !== passAt || host !== this.host || this.isRunning) return;
      this.passAt = never;
      this.run(host, 'supervisor');
    });
  }

  /**
   * Plans the next hourly sweep that can find something. After a sweep without a finding, another one finds nothing until data
   * changes or an order is due.
   */
  private planSweep(): void {
    const { timeline } = this.around;
    const { host } = this;
    if (!host || host.isDead) return;
    const from = this.hasChanged ? timeline.now : Math.max(timeline.now, this.nextDueAt());
    const sweepAt = this.startedAt + (Math.floor((from - this.startedAt) / sweepMs) + 1) * sweepMs;
    if (sweepAt === this.sweepAt) return;
    this.sweepAt = sweepAt;
    if (sweepAt === never) return;
    timeline.after(sweepAt - timeline.now, `${host.id} sweeper`, () => {
      if (this.sweepAt !== sweepAt || host !== this.host || host.isDead) return;
      this.sweepAt = never;
      if (this.isRunning) return this.planSweep();
      this.hasChanged = false;
      this.run(host, 'sweeper');
    });
  }

  /** Returns when the next order is due, by the heads of all orders and not by the worklist. */
  private nextDueAt(): number {
    const due = [...this.around.heads()].flatMap(({ nextDueAt, nextDueFor }) =>
      nextDueAt === null || nextDueFor?.kind === 'reminder' ? [] : [nextDueAt],
    );
    return Math.min(never, ...due);
  }
}
