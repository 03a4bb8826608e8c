import { requestIdFrom } from '#core/data/ids';
import type { Telemetry } from '#ports/telemetry';
import type { Instance } from './instance.ts';

/** The log says what the journal says, under the same orderId, seq and requestId: one leads to the other (F-168). */
export function logJournal(telemetry: Telemetry, orderId: string, { tail }: Instance, sinceSeq: number): void {
  if (!telemetry.logs('info')) return;
  for (const entry of tail) {
    if (entry.seq <= sinceSeq) continue;
    const path = 'path' in entry ? entry.path : undefined;
    const asking = 'attemptId' in entry ? entry.attemptId : undefined;
    const requestId = path !== undefined && asking !== undefined ? requestIdFrom(orderId, path, asking) : undefined;
    telemetry.log('info', entry.type, {
      orderId,
      seq: entry.seq,
      ...(path === undefined ? {} : { path }),
      ...(requestId === undefined ? {} : { requestId }),
    });
  }
}
