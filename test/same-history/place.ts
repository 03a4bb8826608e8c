import type { App } from 'redress';
import type { JsonObject } from '#core/data/json';
import type { Announcement } from '#ports/event-bus';
import type { Store } from '#ports/store';
import type { System } from '#runtime/system';
import type { Mail } from './mail.ts';
import type { Services } from './services.ts';

/** The client's own queue. */
export const responses = 'redress-response-client';

/** Where a scenario is played: implementations of the ports, the functions on them, and a time that the scenario moves. */
export interface Place {
  /** As people reach it: the system on the host that is alive. */
  readonly system: System;
  /** For looking only. */
  readonly store: Store;
  /** Time goes by, and all that happens meanwhile happens. */
  pass(ms: number): Promise<void>;
  /** A message from outside. */
  send(queue: string, body: string): Promise<void>;
  /** The host dies. Until there is a new one, nobody can reach the system. */
  crash(): void;
  start(app?: App): Promise<void>;
  /** What lies on a queue that nothing of the system reads, in any order. */
  bodies(queue: string): Promise<readonly JsonObject[]>;
  announced(): readonly Announcement[];
  close(): Promise<void>;
}

export interface Played {
  readonly app: App;
  readonly variables: { readonly [name: string]: string };
  readonly services: Services;
  readonly mail: Mail;
  /** The client's own queue. */
  readonly responses: string;
}

export type OpenPlace = (played: Played) => Promise<Place>;
