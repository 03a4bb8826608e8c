import type { CoreFact } from '#core/data/journal';
import { sampleOfJson } from '#core/definition/sample';
import { type Check, checkOf } from '#core/instructions/check';
import { forecast, forecastOfResumed } from '#core/instructions/forecast';
import { kindOf } from '#core/instructions/index';
import type { Judged } from '#core/instructions/kind';
import type { Store } from '#ports/store';
import { withUndoPages } from '#roles/scheduler/paging';
import type { Loaded, PlannedWrite } from '#roles/scheduler/types';
import { estimateOf } from './estimate.ts';
import { type Given, type Instruction, isInstruction } from './instruction.ts';

/** Returns what a planned write does, and what follows it. */
export async function checkOfPlan(
  { order, record, instance, program }: Loaded,
  planned: PlannedWrite,
  { given, judged, store }: { readonly given: Given; readonly judged: Judged; readonly store: Pick<Store, 'undoPage'> },
): Promise<Check> {
  const { schemas, subject, now } = judged;
  const after = await withUndoPages(store, order.orderId, planned.instance.state);
  const outset = {
    program,
    subject,
    state: after,
    at: now,
    epoch: planned.record.epoch,
    output: (agent: string, operation: string) => sampleOfJson(schemas.of(agent, operation)?.output ?? {}, operation),
  };
  const follows = forecast(outset);
  const resumed = after.phase === 'suspended' ? forecastOfResumed(outset) : undefined;
  const facts = planned.instance.tail.filter(({ seq }) => seq > instance.seq) as readonly CoreFact[];
  const [warnings, skips] = isInstruction(given) ? warningsAndSkipsOf(given, judged) : [[], []];
  const check = checkOf(program, instance.state, { after, facts, requests: planned.requests, follows, resumed, skips }, warnings);
  return { ...check, estimate: estimateOf(planned.requests.length + follows.requests.length, record) };
}

function warningsAndSkipsOf(given: Instruction, judged: Judged) {
  const kind = kindOf(given);
  return [kind.warnings?.(judged, given) ?? [], kind.skips?.(judged, given) ?? []] as const;
}
