import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Config } from '#runtime/config';
import type { Ports } from '#runtime/system';

/** The opened store, queues and event bus of a host. */
export interface OpenPorts extends Pick<Ports, 'store' | 'queues' | 'publisher' | 'keys' | 'auditLog' | 'tidy'> {
  /** Lines for the start-up output: each part and its place. */
  readonly about: readonly (readonly [what: string, where: string])[];
  /** Whether all ports are on this machine, so that local stand-ins for remote services are safe. */
  readonly isHere: boolean;
  /** Whether the store was just created. */
  readonly isNew: boolean;
  /** The advice to a person when the store is lost. */
  readonly remedy: string;
  /** Calls the listener when the store is lost, if the port detects it before the next use. */
  onGone?(listener: (error: unknown) => void): void;
  close(): Promise<void>;
}

export interface OpenPortsOptions {
  readonly app: App;
  readonly config: Config;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly clock: Clock;
}

/** Opens the ports. @throws SetupError that names an unusable port and the remedy. */
export async function openPorts(options: OpenPortsOptions): Promise<OpenPorts> {
  // Loaded on demand: the AWS SDK alone takes longer to load than the rest of the start.
  if (options.config.adapters === 'aws') return (await import('#runtime/host/ports/aws')).openAwsPorts(options);
  return (await import('#runtime/host/ports/sqlite')).openEmbeddedPorts(options);
}
