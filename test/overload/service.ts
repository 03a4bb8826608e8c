import { TransientFailure } from 'redress';
import type { Deployment } from './deployment.ts';

/** The ways in which a service fails: it refuses immediately, accepts calls without an answer, or runs ten times as slowly. */
export const sicknesses = ['refuses', 'hangs', 'slow'] as const;
export type Sickness = (typeof sicknesses)[number];

export interface ServiceOptions {
  /** Number of calls that run in parallel. */
  readonly workers: number;
  /** Mean duration of a call. */
  readonly workMs: number;
  /** Length of the line at which further calls are refused. */
  readonly lineMax: number;
  readonly sickness: Sickness;
  /** Milliseconds of the deployment. */
  readonly sickFrom: number;
  readonly sickUntil: number;
}

interface Caller {
  readonly key: string;
  readonly answer: () => void;
}

/**
 * A remote service with a limited capacity: calls wait while it is busy, so more calls take longer. It does not notice
 * when a caller has left: it still does the work in its line.
 */
export class Service {
  calls = 0;
  readonly done = new Set<string>();
  private readonly deployment: Deployment;
  private readonly options: ServiceOptions;
  private readonly line: Caller[] = [];
  private busy = 0;

  constructor(deployment: Deployment, options: ServiceOptions) {
    this.deployment = deployment;
    this.options = options;
  }

  async call(key: string, signal: AbortSignal): Promise<void> {
    this.calls += 1;
    await this.deployment.sleep(this.deployment.chance.between(5, 40), signal);
    signal.throwIfAborted();
    if (this.done.has(key)) return;
    if (this.isSick && this.options.sickness === 'refuses') throw new TransientFailure('503');
    if (this.line.length >= this.options.lineMax) throw new TransientFailure('503: too many wait');
    await new Promise<void>((answer, leave) => {
      signal.addEventListener('abort', () => leave(new TransientFailure('no answer in time')), { once: true });
      if (this.isSick && this.options.sickness === 'hangs') return;
      this.line.push({ key, answer });
      this.work();
    });
  }

  private get isSick(): boolean {
    const { now } = this.deployment;
    return now >= this.options.sickFrom && now < this.options.sickUntil;
  }

  private work(): void {
    if (this.busy >= this.options.workers) return;
    const caller = this.line.shift();
    if (!caller) return;
    this.busy += 1;
    const slow = this.isSick ? 10 : 1;
    const ms = -Math.log(1 - this.deployment.chance.next()) * this.options.workMs * slow;
    this.deployment.timeline.after(Math.ceil(ms), 'the service has done it', () => {
      this.busy -= 1;
      this.done.add(caller.key);
      caller.answer();
      this.work();
    });
  }
}
