import { requestIdFrom } from '#core/data/ids';
import type { Telemetry } from '#ports/telemetry';
import type { Instance } from './instance.ts';

/** Logs new journal entries with their orderId, seq and requestId, so that log and journal can be joined (F-168). */
export function logJournal(telemetry: Telemetry, orderId: string, { tail }: Instance, sinceSeq: number): void {
  if (!telemetry.logs('info')) return;
  for (const entry of tail) {
    if (entry.seq <= sinceSeq) continue;
    const path = 'path' in entry ? entry.path : undefined;
    const attemptId = 'attemptId' in entry ? entry.attemptId : undefined;
    const requestId = path !== undefined && attemptId !== undefined ? requestIdFrom(orderId, path, attemptId) : undefined;
    telemetry.log('info', entry.type, {
      orderId,
      seq: entry.seq,
      ...(path === undefined ? {} : { path }),
      ...(requestId === undefined ? {} : { requestId }),
    });
  }
}
