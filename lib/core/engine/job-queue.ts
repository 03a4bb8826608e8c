import type { Job } from './job.ts';

/** The jobs of a transition that are left. */
export class JobQueue {
  private readonly jobs: Job[] = [];
  private readonly skipped = new Set<string>();

  /** Adds a job behind the others. */
  later(job: Job): void {
    this.jobs.push(job);
  }

  /** Adds a job before the others, because it belongs to the present job. */
  next(job: Job): void {
    this.jobs.unshift(job);
  }

  shift(): Job | undefined {
    return this.jobs.shift();
  }

  clear(): void {
    this.jobs.length = 0;
  }

  /** Whether an activity has named its next child and that child has not started. */
  isStarting(path: string): boolean {
    return this.jobs.some((job) => job.do === 'startChild' && job.path === path);
  }

  /** Skips children that were about to start. The activity cancels all its children, and stays open itself. */
  skipChildrenOf(path: string): void {
    this.skipped.add(path);
  }

  skipsChildrenOf(path: string): boolean {
    return this.skipped.has(path);
  }
}
