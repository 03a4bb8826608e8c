import type { App } from 'redress';
import type { JsonObject } from '#core/data/json';
import type { Announcement } from '#ports/event-bus';
import type { Store } from '#ports/store';
import type { System } from '#runtime/system';
import type { Mail } from './mail.ts';
import type { Services } from './services.ts';

/** The client's own queue. */
export const responses = 'redress-response-client';

/**
 * A place to play a scenario: implementations of the ports, the functions on them, and a time that the scenario
 * advances.
 */
export interface Place {
  /** The system on the running host, as people reach it. */
  readonly system: System;
  /** The store, which a scenario only reads. */
  readonly store: Store;
  /** Advances the time, and runs everything due until then. */
  pass(ms: number): Promise<void>;
  /** Sends a message from outside. */
  send(queue: string, body: string): Promise<void>;
  /** Crashes the host. Until there is a new one, the system is unreachable. */
  crash(): void;
  start(app?: App): Promise<void>;
  /** The messages on a queue that the system does not read, in any order. */
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
