import type * as z from 'zod';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import type { Scheduler } from '#roles/scheduler/scheduler';
import type { Submit } from '#roles/submission/submission';
import type { Caller, Issuer, Role } from './authentication.ts';
import type { ProblemCode, Refusal } from './problem.ts';
import type { ClientRate } from './rate-limit.ts';

export interface ApiOptions {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly queues: Pick<Queues, 'depth' | 'send'>;
  readonly submit: Submit;
  readonly definitions: Definitions;
  readonly config: { readonly defaultWorkflow: string; readonly clientOrdersPerSecond?: number | undefined };
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly issuer: Issuer;
  /** Signs list cursors: the same in every process that serves one store. */
  readonly cursorKey: Uint8Array;
  /** False while no calls can be served, for a shutdown: every call that needs a token is then refused. */
  readonly accepting?: () => boolean;
}

/** One request, read and checked against its row of the table. */
export interface Call<Query = unknown, Head = unknown, Body = unknown> {
  readonly api: ApiOptions & { readonly openApi: () => string; readonly clientRate: ClientRate };
  readonly caller: Caller;
  readonly requestId: string;
  /** The id in the path; empty where it has none. */
  readonly id: string;
  /** The name in the path: of a channel, or of what belongs to the id; empty where it has none. */
  readonly name: string;
  readonly query: Query;
  readonly headers: Head;
  readonly body: Body;
}

export interface Answer {
  readonly status: 200 | 202 | 304;
  readonly text: string;
  readonly headers?: { readonly [name: string]: string };
  /** What the call was about, for the log. */
  readonly orderId?: string;
}

type Outcome = Answer | Refusal;

/** One row of the table: routing, access, 405, validation and the published contract all follow from it. */
export interface Route<
  Query extends z.ZodObject = z.ZodObject,
  Head extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{id}` for what it is about, and `{name}` for what belongs to that, or for a channel. */
  readonly path: string;
  /** Who may call; `anyone` needs no token. */
  readonly roles: readonly Role[] | 'anyone';
  readonly summary: string;
  readonly query?: Query;
  readonly headers?: Head;
  readonly body?: Body;
  /** Of a DELETE: whether what it is about is there. Who sends no body is told first where there is nothing. */
  readonly isThere?: (call: Pick<Call, 'api' | 'id' | 'name'>) => Promise<boolean>;
  readonly answers: { readonly [status: number]: { readonly description: string; readonly schema?: z.ZodType } };
  /** Media type of the answer (default `application/json`). */
  readonly produces?: string;
  /** Beyond those that any call with its traits may meet. */
  readonly refusals: readonly ProblemCode[];
  handle(call: Call<z.output<Query>, z.output<Head>, z.output<Body>>): Outcome | Promise<Outcome>;
}

/** Lets a row's handler know the types of its own schemas. */
export const route = <Query extends z.ZodObject, Head extends z.ZodObject, Body extends z.ZodType>(row: Route<Query, Head, Body>): Route =>
  row as unknown as Route;

export const json = (status: 200 | 202, value: unknown, more: Omit<Answer, 'status' | 'text'> = {}): Answer => ({
  status,
  text: JSON.stringify(value),
  ...more,
});
