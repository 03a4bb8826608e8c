import type { Program } from '#core/definition/program';
import { recordingOf } from '#core/evolution/recorded-answers';
import { type WhatIf, whatIf } from '#core/evolution/what-if';
import type { ExceptionRecord } from '#core/exceptions/exception';
import type { Definitions } from '#ports/definitions';
import { type StateHead, subjectOf } from '#ports/records';
import type { Store } from '#ports/store';
import { listExceptions } from '#roles/exceptions/list';
import { readableOrder } from '#roles/scheduler/load';
import { storedJournal } from '#roles/scheduler/step-report';

/** The course that an order with an exception would have taken under another definition. */
export interface ReplayedOrder extends WhatIf {
  readonly head: Pick<StateHead, 'orderId' | 'workflow' | 'processState' | 'outcome'>;
}

interface Ports {
  readonly store: Store;
  readonly definitions: Definitions;
}

interface Extent {
  readonly after: string | undefined;
  readonly limit: number;
  readonly now: number;
}

/**
 * Replays, on another definition, a page of the orders that have had an exception of a fingerprint, the newest exception first. It changes
 * nothing. Each order is replayed once. Exceptions that a rule has handled needed no person, and orders that cannot be read tell nothing:
 * both are left out, so a page may hold fewer orders than `limit`.
 */
export async function replayCluster(
  fingerprint: string,
  target: Program,
  extent: Extent,
  ports: Ports,
): Promise<{ readonly items: readonly ReplayedOrder[]; readonly next?: string }> {
  const { items: exceptions, next } = await listExceptions(ports.store, { fingerprint }, extent);
  const items: ReplayedOrder[] = [];
  // The orders are replayed one after the other: a replay uses the processor, and other API calls wait for it.
  for (const exception of exceptions) {
    const replayed = exception.handling?.by === 'rule' ? undefined : await replayOne(exception, target, ports);
    if (replayed) items.push(replayed);
  }
  return { items, ...(next === undefined ? {} : { next }) };
}

async function replayOne(exception: ExceptionRecord, program: Program, ports: Ports): Promise<ReplayedOrder | undefined> {
  const { orderId, id, fingerprint, submittedAt } = exception;
  const loaded = await readableOrder(orderId, ports);
  if (!loaded || loaded.record.submittedAt !== submittedAt) return undefined;
  const lines = storedJournal(await ports.store.pages(orderId), loaded.instance.tail);
  const first = lines.find((line) => line.type === 'ExceptionDiagnosed' && line.fingerprint === fingerprint);
  if (first?.type === 'ExceptionDiagnosed' && first.exceptionId !== id) return undefined;
  const recording = recordingOf(orderId, loaded.program, lines);
  const { record, order } = loaded;
  const { workflow, processState, outcome } = record;
  const played = { program, subject: subjectOf(order), catalog: ports.definitions.catalog, stepMs: record.stepMs };
  return { head: { orderId, workflow, processState, outcome }, ...whatIf(played, recording) };
}
