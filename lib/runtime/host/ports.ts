import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Config } from '#runtime/config';
import type { Ports } from '#runtime/system';

/** What the host keeps orders, messages and announcements in, opened. */
export interface OpenPorts extends Pick<Ports, 'store' | 'queues' | 'publisher' | 'tidy'> {
  /** For whoever starts the system: what is kept, and where. */
  readonly about: readonly (readonly [what: string, where: string])[];
  /** All of it is on this machine, so that stand-ins for the remote services do no harm. */
  readonly isHere: boolean;
  /** Nobody has used it before. */
  readonly isNew: boolean;
  /** What a person must do once the store is gone for good. */
  readonly remedy: string;
  /** Tells when it is gone, where that shows before anybody uses it. */
  onGone?(listener: (error: unknown) => void): void;
  close(): Promise<void>;
}

export interface OpenPortsOptions {
  readonly app: App;
  readonly config: Config;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly clock: Clock;
}

/** @throws SetupError where they can't be used: what is wrong with which, and the remedy. */
export async function openPorts(options: OpenPortsOptions): Promise<OpenPorts> {
  // Only what is used is loaded: the SDK of AWS alone takes longer than the rest of the start.
  if (options.config.adapters === 'aws') return (await import('#runtime/host/ports/aws')).openAwsPorts(options);
  return (await import('#runtime/host/ports/sqlite')).openEmbeddedPorts(options);
}
