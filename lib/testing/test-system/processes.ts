import { type ProcessOptions, TestProcess } from './process.ts';

/** The processes of a test system, one after another over the same data. */
export class Processes {
  private readonly options: Omit<ProcessOptions, 'hostId'>;
  private readonly hostId: string | undefined;
  private created = 0;
  private latest: TestProcess;
  private isClosed = false;

  constructor(options: Omit<ProcessOptions, 'hostId'>, hostId: string | undefined) {
    this.options = options;
    this.hostId = hostId;
    this.latest = this.create();
  }

  /** The process that was created last, whether it runs or not. */
  get current(): TestProcess {
    return this.latest;
  }

  /** Starts the first process. Closes the data if it cannot start. */
  async startFirst(): Promise<void> {
    await this.latest.start().catch(async (error: unknown) => {
      await this.close();
      throw error;
    });
  }

  kill(): void {
    if (this.isClosed) throw new Error('Cannot kill the system: it was stopped.');
    this.latest.kill();
    this.latest = this.create();
  }

  async start(): Promise<void> {
    if (this.isClosed)
      throw new Error('Cannot start the system: it was stopped, and its data is closed. Call startSystem with the same dataFolder.');
    if (this.latest.isRunning) throw new Error('Cannot start the system: it is running. Call kill() first.');
    await this.latest.start();
  }

  async stop(): Promise<void> {
    if (this.isClosed) return;
    if (this.latest.isRunning) await this.latest.stop();
    await this.close();
  }

  private create(): TestProcess {
    this.created += 1;
    const hostId = this.hostId && (this.created === 1 ? this.hostId : `${this.hostId}-${this.created}`);
    return new TestProcess({ ...this.options, hostId });
  }

  private async close(): Promise<void> {
    this.isClosed = true;
    await this.options.database.close();
  }
}
