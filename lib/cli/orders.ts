import type { Json, JsonObject } from '#core/data/json';
import { FailedError, UsageError } from './errors.ts';
import type { Api } from './http.ts';

/** ISO 8601, or milliseconds since 1970. */
export type Time = string | number;

/** A step, a call or a wait. A client sees its name, status and result alone. */
export interface StepView {
  readonly name: string;
  readonly status: string;
  readonly result?: string | null;
  readonly skipped?: 'none' | 'done';
  readonly path?: string;
  /** The agent and the operation; null for a wait. */
  readonly agent?: string | null;
  readonly operation?: string | null;
  readonly waitsFor?: WaitView | null;
  readonly attempts?: number;
  /** The input of the next request of an open step, for operators. */
  readonly input?: unknown;
  readonly completeBy?: Time | null;
  readonly startedAt?: Time | null;
  readonly closedAt?: Time | null;
  readonly requestedAt?: Time | null;
  readonly answeredAt?: Time | null;
}

/** The event for which a step or a whole order waits. */
export interface WaitView {
  readonly kind: string;
  readonly name?: string | null;
  readonly workflow?: string;
  readonly agent?: string;
  readonly since?: Time;
  /** Given only for the wait of a whole order, as is `until`. */
  readonly path?: string | null;
  readonly until?: Time | null;
}

export interface FaultView {
  readonly type: string;
  readonly message?: string;
  readonly source?: string;
  /** Whether the same request would fail again. Shown to operators only. */
  readonly permanent?: boolean;
}

/** The progress of the undo of an order: how many effects are undone (`done`) and how many are `left`. Paths name steps, not undos. */
export interface UndoView {
  readonly scope: string;
  readonly done: number;
  readonly left: number;
  readonly now: string | null;
  readonly stuck: readonly StuckUndoView[];
}

/** An undo that has failed, and is requested again. */
export interface StuckUndoView {
  readonly path: string;
  readonly attempts: number;
  readonly lastFault: FaultView | null;
  readonly nextAt: Time | null;
}

/** Faults that made no exception, because their scope was being recovered. Newest first. */
export interface MaskedFaultsView {
  readonly count: number;
  readonly newest: readonly { readonly path: string | null; readonly type: string; readonly message: string; readonly maskedBy: string }[];
}

/** An instruction of a person, and what it has led to. */
export interface InstructionView {
  readonly kind: string;
  readonly by: string;
  readonly at: Time;
  readonly reason: string;
  readonly verified?: string | null;
  readonly fault?: FaultView | null;
  readonly faultBefore?: FaultView | null;
  /** The values before the instruction, and the values that it gives. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  readonly taskId?: string | null;
}

/** An order in the API's response, with the fields that the command line reads. */
export interface OrderView {
  readonly orderId: string;
  readonly reference?: string | null;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly processState: string;
  readonly outcome?: string | null;
  readonly output?: Json;
  readonly suspended?: boolean;
  /** Whether the order, or a scope of it, is being undone. Shown to operators only. */
  readonly undoing?: boolean;
  readonly failureCount?: number;
  readonly completeBy?: Time | null;
  readonly endBy?: Time | null;
  /** Shown to operators only. */
  readonly waitsFor?: WaitView | null;
  /** Seconds until completeBy after the order is resumed; suspended orders only. */
  readonly remainingSeconds?: number | null;
  readonly submittedAt: Time;
  readonly updatedAt: Time;
  readonly fault?: FaultView | null;
  readonly restartedAs?: string | null;
  readonly restartedFrom?: string | null;
  /** Shown to operators only, of an order about which a person decides. */
  readonly exceptionId?: string;
  readonly taskId?: string;
  readonly steps?: readonly StepView[];
  /** The progress of its undo, for operators. */
  readonly undo?: UndoView;
  /** The faults that recoveries have masked, for operators. */
  readonly maskedFaults?: MaskedFaultsView;
  /** The last instruction of a person, and the one that has ended the order or lets it be undone. Only operators get them. */
  readonly lastInstruction?: InstructionView;
  readonly endedBy?: InstructionView;
  /** A sentence that explains the current state. */
  readonly explanation?: string | null;
}

export const orderPath = (orderId: string): string => `/orders/${encodeURIComponent(orderId)}`;

/** Whether the order is finished or blocked. */
export const isEnded = ({ processState }: OrderView): boolean => processState === 'Processed' || processState === 'Error';

const pageMax = 100;

/** Returns at most `limit` items of a list that `keep` accepts, from as many pages as needed. */
export async function listed<T>(
  api: Api,
  path: string,
  query: { readonly [name: string]: string | undefined } = {},
  limit = Number.POSITIVE_INFINITY,
  keep?: (item: T) => boolean,
): Promise<readonly T[]> {
  const items: T[] = [];
  for (let cursor: string | undefined; items.length < limit; ) {
    const parameters = Object.entries({ ...query, cursor }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const search = new URLSearchParams([...parameters, ['limit', String(keep ? pageMax : Math.min(limit - items.length, pageMax))]]);
    const { body } = await api.call<{ items: readonly T[]; next?: string | null }>('GET', `${path}?${search}`);
    items.push(...(keep ? body.items.filter(keep).slice(0, limit - items.length) : body.items));
    // A page may be empty and still have a next one.
    if (!body.next) break;
    cursor = body.next;
  }
  return items;
}

const wholeId = /^ord_[a-z2-7]{52}$/;
/** The number of newest orders among which the beginning of an id is searched. */
const lookedAtMax = 10_000;
const namedMax = 5;

/** Resolves an order's id or its beginning, with or without `ord_`, to the full id. */
export async function resolveOrderId(api: Api, given: string): Promise<string> {
  // Lists on a screen end a shortened id with this mark.
  const text = given.replace(/…$/, '');
  if (wholeId.test(text)) return text;
  if (text === '') throw new UsageError('The order id is empty.');
  const beginnings = [text, `ord_${text}`];
  const newest = await listed<OrderView>(api, '/orders', {}, lookedAtMax);
  const matching = newest.map(({ orderId }) => orderId).filter((orderId) => beginnings.some((beginning) => orderId.startsWith(beginning)));
  const [only, ...others] = matching;
  if (only === undefined)
    throw new FailedError(
      `No order id begins with ${text}${newest.length === lookedAtMax ? ` among the newest ${lookedAtMax} orders` : ''}. List the orders: redress order list`,
    );
  if (others.length === 0) return only;
  throw new UsageError(severalMatch(text, 'orders', matching));
}

/** Returns the message about the beginning of an id that several orders or tasks have. */
export function severalMatch(text: string, things: 'orders' | 'tasks', ids: readonly string[]): string {
  const others = ids.length > namedMax ? ', and others' : '';
  return `${text} matches ${ids.length} ${things}: ${ids.slice(0, namedMax).join(', ')}${others}. Give more characters of the id.`;
}

/** The fault type of an order that waits for an answer. */
export const questionType = 'OperatorAsked';

/** Returns the state of an order in a few words: `completed`, `blocked: CardDeclined`. */
export function stateText(order: OrderView): string {
  const { processState, outcome, fault, suspended, undoing, waitsFor } = order;
  if (processState === 'Processed') return `${outcome ?? 'processed'}${endReason(order)}`;
  if (processState === 'Error' && fault?.type === questionType)
    return `waits for an answer${fault.message === undefined ? '' : `: ${fault.message}`}`;
  if (processState === 'Error') return `blocked${fault ? `: ${fault.type}` : ''}`;
  if (waitsFor && !suspended) return waitText(waitsFor);
  if (suspended) return undoing ? 'suspended, being undone' : 'suspended';
  if (undoing) return 'being undone';
  return processState === 'Pending' ? 'pending' : 'running';
}

/** Returns why an order has ended: who ended it, or its fault. The fault of a canceled or terminated order is not the reason. */
export function endReason({ outcome, fault, endedBy }: OrderView): string {
  if (endedBy) return ` by ${endedBy.by}: ${endedBy.reason}`;
  return fault && outcome !== 'canceled' && outcome !== 'terminated' ? `: ${fault.type}` : '';
}

/** Returns the event for which an order waits: `waits for the signal approval until 2026-01-31T12:00:00Z`. */
export function waitText(wait: WaitView): string {
  const isRequested = wait.kind === 'undo' || wait.kind === 'confirmation';
  const until = wait.until ? `${isRequested ? ', next request at' : ' until'} ${secondText(wait.until)}` : '';
  return `${eventText(wait)}${until}`;
}

function eventText({ kind, name, workflow, agent, since, path }: WaitView): string {
  switch (kind) {
    case 'signal':
      return name ? `waits for the signal ${name}` : 'waits for a signal';
    case 'answer':
      return 'waits for an answer';
    case 'order':
      return `waits for an order of ${workflow}`;
    case 'outage':
      return `waits for the agent ${agent}${since === undefined ? '' : ` since ${secondText(since)}`}`;
    case 'undo':
      return `undo failing: ${path}`;
    case 'confirmation':
      return `outcome unknown: ${path}`;
    default:
      return 'waits';
  }
}

/** Returns a time in UTC without fractions of a second: `2026-01-31T12:00:00Z`. */
export const secondText = (time: Time): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

/**
 * Returns the name of a step; its path if another step has the same name. A client sees no paths. For a client, the first such step
 * has its name alone, and each further one a number.
 */
export function stepLabel(step: StepView, steps: readonly StepView[] = []): string {
  const alike = steps.filter(({ name }) => name === step.name);
  if (alike.length < 2) return step.name;
  const place = alike.indexOf(step);
  return step.path ?? (place < 1 ? step.name : `${step.name} (${place + 1})`);
}

/** Returns how long a step was at work: from its request to its answer. A wait takes from its beginning to its end. */
export function durationMs({ startedAt, closedAt, requestedAt, answeredAt }: StepView): number | undefined {
  const [from, to] = [requestedAt ?? startedAt, answeredAt ?? closedAt];
  return from && to && closedAt ? timeOf(to) - timeOf(from) : undefined;
}

/** Returns the step whose fault blocks the order or has ended it. */
export const failedStep = ({ fault, steps = [] }: OrderView): StepView | undefined =>
  steps.find(({ path }) => path !== undefined && path === fault?.source);

/** Returns the path of the step whose undo is stuck, if the undo of the order waits for that step alone. */
export const onlyStuck = (undo: UndoView | undefined): string | undefined =>
  undo?.stuck.length === 1 && undo.stuck[0]?.path === undo.now ? undo.now : undefined;

/** Returns the step at the path of an instruction or, without a path, the step whose fault blocks the order. */
export const meantStep = (order: OrderView, path: unknown): StepView | undefined =>
  path === undefined ? failedStep(order) : order.steps?.find((each) => each.path === path);

export const timeOf = (time: Time): number => new Date(time).getTime();
