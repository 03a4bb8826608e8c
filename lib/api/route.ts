import type * as z from 'zod';
import type { Audit, AuditLog } from '#ports/audit';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Publisher } from '#ports/event-bus';
import type { Keys } from '#ports/keys';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import type { Bulk } from '#roles/bulk/bulk';
import type { SinceFrozen } from '#roles/bulk/since-frozen';
import type { StepCounts } from '#roles/overview/steps';
import type { Rules } from '#roles/rules/rules';
import type { Scheduler } from '#roles/scheduler/scheduler';
import type { Solutions } from '#roles/solutions/solutions';
import type { ClientRate } from '#roles/submission/client-rate';
import type { Submit } from '#roles/submission/submission';
import type { Tasks } from '#roles/tasks/tasks';
import type { Caller, Issuer, Role } from './authentication.ts';
import type { Chaos } from './chaos.ts';
import type { ConsoleFiles } from './console.ts';
import type { ProblemCode, Refusal } from './problem.ts';
import type { SignIn } from './sign-in.ts';

export interface ApiOptions {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly queues: Pick<Queues, 'depth' | 'send'>;
  readonly submit: Submit;
  /** Announces bulk runs that wait for a process. Without it, they wait for the next start of their function. */
  readonly publisher?: Publisher | undefined;
  /** The keys that encrypt the secrets of orders and the bodies of dead letters. */
  readonly keys?: Keys | undefined;
  readonly definitions: Definitions;
  readonly config: {
    readonly defaultWorkflow: string;
    readonly clientOrdersPerSecond?: number | undefined;
    /** The hosts that messages for people may go to. */
    readonly notify?: { readonly hosts: readonly string[] };
  };
  /** Limits the rate of each client. Default: a limit of the API alone, from `config`. */
  readonly clientRate?: ClientRate;
  /** The rules as this process knows them. Default: the API reads them for itself. */
  readonly rules?: Rules;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly issuer: Issuer;
  /** The log of the audit; without one, its lines go to the log of the process. */
  readonly auditLog?: AuditLog | undefined;
  /** The key that signs list cursors: the same in every process that serves one store. */
  readonly cursorKey: Uint8Array;
  /** The built console; undefined if it is not built. */
  readonly console?: () => ConsoleFiles | undefined;
  /** The way in which people sign in to the console. Without it, they cannot. */
  readonly signIn?: SignIn | undefined;
  /** The experiments, which inject faults. Only a host on the machine of its operator has them. */
  readonly chaos?: Chaos | undefined;
  /** Whether calls are accepted. During a shutdown, every call that needs a token is refused. */
  readonly accepting?: () => boolean;
}

/** One request, validated against its row of the route table. */
export interface Call<Query = unknown, Head = unknown, Body = unknown> {
  readonly api: ApiOptions & {
    readonly openApi: () => string;
    readonly clientRate: ClientRate;
    readonly audit: Audit;
    readonly rules: Rules;
    readonly bulk: Bulk;
    readonly sinceFrozen: SinceFrozen;
    readonly steps: () => Promise<StepCounts>;
    readonly tasks: Tasks;
    readonly solutions: Solutions;
  };
  readonly caller: Caller;
  readonly requestId: string;
  /** The id, or the version, in the path, or empty. */
  readonly id: string;
  /** The name in the path, of a channel, a signal or a workflow, or empty. */
  readonly name: string;
  readonly query: Query;
  readonly headers: Head;
  readonly body: Body;
}

export interface Answer {
  readonly status: 200 | 201 | 202 | 204 | 304;
  readonly text: string;
  /** Sent instead of the text: compressed content. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: { readonly [name: string]: string };
  /** The order that the call was about, for the log. */
  readonly orderId?: string;
}

type Outcome = Answer | Refusal;

/** One row of the route table. Routing, access, 405, validation and the OpenAPI document follow from it. */
export interface Route<
  Query extends z.ZodObject = z.ZodObject,
  Head extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with `{id}` for the resource, `{name}` for a channel, a signal or a workflow, and `{version}` of a workflow. */
  readonly path: string;
  /** The roles that may call; `anyone` needs no token. */
  readonly roles: readonly Role[] | 'anyone';
  readonly summary: string;
  readonly query?: Query;
  readonly headers?: Head;
  readonly body?: Body;
  /** Whether the resource of a DELETE exists, so that a call without a body gets 404 before 422. */
  readonly isThere?: (call: Pick<Call, 'api' | 'id' | 'name'>) => Promise<boolean>;
  readonly answers: { readonly [status: number]: { readonly description: string; readonly schema?: z.ZodType } };
  /** Media type of the answer (default `application/json`). */
  readonly produces?: string;
  /** Refusals beyond those that follow from roles, body and parameters. */
  readonly refusals: readonly ProblemCode[];
  handle(call: Call<z.output<Query>, z.output<Head>, z.output<Body>>): Outcome | Promise<Outcome>;
}

/** Types a row's handler by its schemas. */
export const route = <Query extends z.ZodObject, Head extends z.ZodObject, Body extends z.ZodType>(row: Route<Query, Head, Body>): Route =>
  row as unknown as Route;

export const json = (status: 200 | 201 | 202, value: unknown, more: Omit<Answer, 'status' | 'text'> = {}): Answer => ({
  status,
  text: JSON.stringify(value),
  ...more,
});
