import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#core/data/json';
import { isJudged } from '#core/exceptions/verdict';
import type { BulkFigures } from '#roles/bulk/run';
import { usualStopAfter } from '#roles/bulk/usual-stop';
import type { Cli } from './command.ts';
import type { Api } from './http.ts';
import { printable } from './text.ts';

/** A bulk run in the API's response, with the fields that the command line reads. */
export interface BulkView extends BulkFigures {
  readonly id: string;
  readonly state: string;
  readonly kind: string;
  readonly by: string;
  readonly reason: string;
  readonly createdAt: string;
  readonly stopAfterFailures: number | null;
  readonly paused: { readonly by: string; readonly agent?: string; readonly queue?: string } | null;
  readonly stopped: { readonly detail: string } | null;
  readonly sinceFrozen?: number;
}

export const bulkPath = (id: string): string => `/bulk/${encodeURIComponent(id)}`;

const lookEveryMs = 1_000;

/** Returns a bulk run in one line: its state, and the number of its orders with each outcome. */
export function bulkText({ state, paused, stopped, ...run }: BulkView): string {
  if (state === 'preparing' && run.count === 0) return 'preparing: freezing the set';
  if (state === 'preparing') return `preparing: ${run.feasible + run.infeasible} of ${run.count} checked`;
  if (state === 'ready') return `ready: feasible for ${run.feasible} of ${run.count} orders, infeasible for ${run.infeasible}`;
  const { running, passed, failedAgain, failedOtherwise } = run.verified;
  const why = paused ? ` (${paused.by}${paused.agent ? ` of ${paused.agent}` : ''})` : stopped ? ` (${stopped.detail})` : '';
  const others = `${run.refused} refused, ${run.movedOn} moved on, ${run.failed} failed, ${run.left} left`;
  const verified = `${passed} passed, ${failedAgain} failed again, ${failedOtherwise} failed otherwise, ${running} not yet known`;
  return `${state}${why}: ${run.applied} applied, ${others}; ${verified}`;
}

/** The bulk run that a person wants: its orders, the work for each of them, and its limits. */
interface WantedBulk {
  readonly filter: object;
  /** The instruction, or the solution with its parameters. */
  readonly work: JsonObject;
  readonly reason: string;
  readonly rate: number;
  readonly canary?: number | undefined;
  readonly stopAfter?: number | undefined;
  readonly sameForAll?: boolean | undefined;
  /** The earlier bulk run that did not reach the orders of this one. */
  readonly continues?: string | undefined;
  /** The idempotency key of the call. Default: a new one. */
  readonly key?: string | undefined;
}

/** Prepares a bulk run, and shows its progress until all orders are checked. Nothing is sent to an order. */
export async function prepareBulk(cli: Cli, api: Api, wanted: WantedBulk): Promise<BulkView> {
  const { filter, work, reason, rate, canary, stopAfter, sameForAll, continues, key = randomUUID() } = wanted;
  const { body: made } = await api.call<{ id: string }>('POST', '/bulk', {
    headers: { 'idempotency-key': key },
    body: {
      filter,
      ...work,
      reason,
      ratePerSecond: rate,
      ...(canary === undefined ? {} : { canary }),
      ...(stopAfter === undefined ? {} : { stopAfterFailures: stopAfter }),
      ...(sameForAll ? { sameForAll } : {}),
      ...(continues === undefined ? {} : { continues }),
    },
  });
  return followBulk(cli, api, made.id, ({ state }) => state !== 'preparing');
}

/** Shows the progress of a bulk run until `isOver` is true. The person may stop the command: the bulk run continues without it. */
export async function followBulk(cli: Cli, api: Api, id: string, isOver: (run: BulkView) => boolean): Promise<BulkView> {
  for (let shown = ''; ; ) {
    const { body } = await api.call<BulkView>('GET', bulkPath(id));
    const text = bulkText(body);
    if (!cli.json && text !== shown) cli.terminal.say(text);
    if (isOver(body)) return body;
    shown = text;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

export const isAtEnd = ({ state }: BulkView): boolean => state === 'done' || state === 'stopped';

/** Whether a bulk run waits for a person, or is at its end. */
export const isAtRest = (run: BulkView): boolean =>
  isAtEnd(run) || run.state === 'ready' || (run.state === 'paused' && (run.paused?.by === 'person' || run.paused?.by === 'canary'));

/** Returns a warning about a ready bulk run without a failure limit, and proposes a limit. Undefined if no warning is needed. */
export function withoutStop({ state, kind, feasible, stopAfterFailures }: BulkView): string | undefined {
  const usual = usualStopAfter(feasible);
  if (state !== 'ready' || stopAfterFailures !== null || feasible <= usual || !isJudged(kind)) return undefined;
  return `The run goes on however many orders fail. To have the run stop by itself, prepare it again with --stop-after ${usual}.`;
}

/** Returns a hint at the next command for a bulk run; undefined while it needs none. */
export function nextStep({ id, state }: BulkView): string | undefined {
  const named = printable(id);
  if (state === 'ready') return `To start it: redress bulk start ${named} --reason '…'`;
  if (state === 'paused') return `To go on: redress bulk resume ${named} --reason '…'`;
  return isAtEnd({ state } as BulkView) ? `To see each order: redress bulk items ${named}` : undefined;
}
