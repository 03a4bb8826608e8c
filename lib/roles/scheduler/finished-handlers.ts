import type { OpenCause } from '#ports/records';
import { isReport } from '#roles/exceptions/causes';
import { exceptionIdOf } from '#roles/exceptions/ids';
import type { Instruction } from '#roles/operator/instruction';
import { handlerIdOf } from '#roles/submission/submission';
import type { Draft } from './draft.ts';
import { handlerEnded, notCompleted, startHandler } from './handlers.ts';
import { recorded } from './recorded-reports.ts';
import type { RunningHandler } from './running-handler.ts';
import type { Incoming } from './types.ts';

/**
 * Begins a handler for each open report of a finished order, if the instruction says so. The number of the report gives the handler its id.
 */
export function handleFinished(draft: Draft, instruction: Instruction): Draft {
  if (instruction.kind !== 'handle') return draft;
  const { record } = draft;
  const { workflow: name, version } = instruction;
  const handlerOf = ({ seq, path }: OpenCause): RunningHandler => ({
    seq,
    orderId: handlerIdOf(record.orderId, seq),
    workflow: { name, ...(version === undefined ? {} : { version }) },
    control: 'parallel',
    place: path ?? '',
    ofFinished: true,
  });
  return (record.open ?? []).filter(isReport).map(handlerOf).reduce(startHandler, draft);
}

/** Notes the end of a handler. If it was begun for a finished order and did not complete, a person hears of it. */
export function afterHandler(draft: Draft, ended: Extract<Incoming, { type: 'handled' }>): Draft {
  const handler = draft.instance.rules?.handlers?.find(({ seq }) => seq === ended.seq);
  const noted = handlerEnded(draft, ended);
  if (!handler?.ofFinished || ended.isCompleted) return noted;
  const fault = notCompleted(ended.handler, ended.message);
  const about = handler.place === '' ? fault : { ...fault, source: handler.place };
  return recorded(noted, about, exceptionIdOf(draft.record.orderId, ended.seq));
}
