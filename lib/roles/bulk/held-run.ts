import type { Clock } from '#ports/clock';
import type { Document } from '#ports/documents';
import type { BulkDocuments } from './documents.ts';
import { type BulkRun, isFree } from './run.ts';

interface Ports {
  readonly documents: BulkDocuments;
  readonly clock: Clock;
  readonly hostId: string;
}

/** Another process works on the run. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** The time for which a process may leave its lease unrenewed before another process takes the run. */
const leaseMs = 15_000;
const renewMs = 1_000;

/** The record of a bulk run in the process that holds its lease. */
export class HeldRun {
  private readonly id: string;
  private readonly ports: Ports;
  private savedAt = 0;
  /** The run as it was last written or read. */
  run!: BulkRun;

  constructor(id: string, ports: Ports) {
    this.id = id;
    this.ports = ports;
  }

  /** Takes the lease; resolves to false if the run needs no process, or has one. */
  async take(): Promise<boolean> {
    const { documents, clock, hostId } = this.ports;
    const taken = await documents.change(this.id, (run) =>
      isFree(run, clock.now()) ? { ...run, epoch: run.epoch + 1, heldBy: hostId, heldUntil: clock.now() + leaseMs } : undefined,
    );
    if (!taken) return false;
    this.run = taken;
    this.savedAt = clock.now();
    return true;
  }

  /** Reads whether the run goes on here: nobody has paused or stopped it, and no other process has taken it. */
  async mayGoOn(): Promise<boolean> {
    const run = await this.ports.documents.run(this.id);
    return run?.state === 'running' && run.epoch === this.run.epoch;
  }

  /** Renews the lease if the last write is a second old. */
  async renew(): Promise<void> {
    const now = this.ports.clock.now();
    if (now - this.savedAt < renewMs) return;
    this.savedAt = now;
    await this.save(() => ({}));
  }

  /**
   * Changes the run, and renews the lease. `beside`: new documents of the same write.
   *
   * @throws LeaseLostError after another process has taken the run.
   */
  async save(change: (run: BulkRun) => Partial<BulkRun>, beside: readonly Document[] = []): Promise<void> {
    const { documents, clock } = this.ports;
    const { epoch } = this.run;
    const now = clock.now();
    const next = (run: BulkRun): BulkRun | undefined =>
      run.epoch === epoch ? { ...run, heldUntil: now + leaseMs, ...change(run) } : undefined;
    const saved = await documents.change(this.id, next, beside);
    if (!saved) throw new LeaseLostError(`Another process works on the bulk run ${this.id}.`);
    this.run = saved;
    this.savedAt = now;
  }
}
