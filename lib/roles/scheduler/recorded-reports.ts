import type { Fault } from '#core/data/fault';
import { reported } from '#roles/exceptions/causes';
import type { Report } from '#roles/operator/instruction';
import { addFacts, addToOutbox, type Draft, patchRecord } from './draft.ts';
import { causeOf, detectionOf } from './record-causes.ts';

/** Returns the fault of an exception from outside. */
export const faultOf = ({ type, message, path, data }: Report): Fault => ({
  type,
  class: 'unexpected',
  permanent: true,
  message,
  ...(data === undefined ? {} : { data }),
  ...(path === undefined ? {} : { source: path }),
});

/** Records an exception, and leaves the order as it is. `by`: the person who reported it. */
export function recorded(draft: Draft, fault: Fault, causedBy?: string, by = draft.reported?.by): Draft {
  const seq = (draft.record.causes ?? 0) + 1;
  return recordDetected(addFacts(draft, detectionOf(draft, causeOf(draft, '', fault), seq, [], by)), fault, causedBy);
}

/** Does what `recorded` does, if the journal already has the facts of the detection. */
export function recordDetected(draft: Draft, fault: Fault, causedBy?: string): Draft {
  const { change, entry } = reported(draft.record, { ...causeOf(draft, '', fault), causedBy }, draft.now);
  return addToOutbox(patchRecord(draft, change), [entry]);
}
