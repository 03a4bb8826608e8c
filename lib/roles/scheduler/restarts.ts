import { unmasked } from '#core/instructions/masks';
import { queueNames } from '#ports/messages';
import type { OutboxEntry } from '#ports/records';
import type { Instruction } from '#roles/operator/instruction';
import { restartIdOf } from '#roles/submission/submission';
import { addToOutbox, type Draft, patchRecord } from './draft.ts';

/**
 * Notes which order replaces this one, if the instruction restarts it. The id of the new order follows from the rev to which the
 * instruction is applied, so that a repetition begins no further order. A termination ends the order without a successor.
 */
export function noteRestart(draft: Draft, instruction: Instruction): Draft {
  const { restart: before, ...instance } = draft.instance;
  if (instruction.kind === 'terminate' && before) {
    const { restartedAs: _, ...record } = draft.record;
    return { ...draft, record, instance };
  }
  if (instruction.kind !== 'restart') return draft;
  const { order, version } = instruction;
  const { orderId, body } = draft.loaded.order;
  const restart = {
    ...(order === undefined ? {} : { order: unmasked(order, body) }),
    ...(version === undefined ? {} : { version }),
  };
  const noted = patchRecord(draft, { restartedAs: restartIdOf(orderId, draft.loaded.record.rev) });
  const restarting = { ...noted, instance: { ...noted.instance, restart } };
  // An order that is not finished begins the new order when it ends.
  return restarting.record.processState === 'Processed' ? addToOutbox(restarting, restartOf(restarting)) : restarting;
}

/** Returns the message that begins the order which replaces this finished one; none if no order replaces it. */
export const restartOf = ({ record: { orderId, restartedAs } }: Draft): readonly OutboxEntry[] =>
  restartedAs === undefined
    ? []
    : [{ id: `${restartedAs}/restart`, kind: 'status', channel: queueNames.submissions, message: { v: 1, type: 'restart', orderId } }];
