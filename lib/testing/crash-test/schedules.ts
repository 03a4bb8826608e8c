import type { Embedded } from '#adapters/sqlite/open';
import type { Timeline } from '#testing/world/timeline';
import type { Host } from './host.ts';

const sweepMs = 3_600_000;

interface Surroundings {
  readonly timeline: Timeline;
  readonly embedded: Embedded;
}

/** Runs the supervisor and the sweeper of the process that is alive. Passes without work are left out. */
export class Schedules {
  private readonly around: Surroundings;
  private host: Host | undefined;
  private passAt = Number.POSITIVE_INFINITY;
  /** Whether the supervisor or the sweeper runs. */
  isRunning = false;

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Begins with a pass: it recovers what the last process left. */
  begin(host: Host): void {
    this.host = host;
    this.isRunning = false;
    this.passAt = Number.POSITIVE_INFINITY;
    this.around.timeline.after(0, `${host.id} supervisor`, () => this.run(host, 'supervisor'));
    this.around.timeline.after(sweepMs, `${host.id} sweeper`, () => this.sweep(host));
  }

  private run(host: Host, name: 'supervisor' | 'sweeper'): void {
    if (host.isDead) return;
    this.isRunning = true;
    const ended = () => {
      if (host.isDead) return;
      this.isRunning = false;
      this.planPass();
    };
    host.supervise(name, { task: name === 'sweeper' ? 'sweep' : 'pass' }).then(ended, ended);
  }

  private sweep(host: Host): void {
    if (host.isDead) return;
    if (!this.isRunning) this.run(host, 'sweeper');
    this.around.timeline.after(sweepMs, `${host.id} sweeper`, () => this.sweep(host));
  }

  /** Plans the next supervisor pass that has work. */
  planPass(): void {
    const { timeline, embedded } = this.around;
    const { host } = this;
    if (!host || host.isDead || this.isRunning) return;
    const { at } = embedded.database.prepare("SELECT min(worklistAt) AS at FROM states WHERE worklist = 'due'").get() as {
      at: number | null;
    };
    const passAt = at === null ? Number.POSITIVE_INFINITY : Math.max(timeline.now + host.system.config.supervisorPeriodMs, at);
    if (passAt === this.passAt) return;
    this.passAt = passAt;
    if (at === null) return;
    timeline.after(passAt - timeline.now, `${host.id} supervisor`, () => {
      if (this.passAt !== passAt || host !== this.host || this.isRunning) return;
      this.passAt = Number.POSITIVE_INFINITY;
      this.run(host, 'supervisor');
    });
  }
}
