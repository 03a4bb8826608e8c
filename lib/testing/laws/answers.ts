import type { JournalEntry } from '#roles/scheduler/instance';
import { type Law, on, type Setting } from './law.ts';

type Raised = Extract<JournalEntry, { type: 'FaultRaised' }>;

/** The journal holds the answer of each service unchanged: its output, or its fault with all data. */
export const answers = (setting: Pick<Setting, 'declaredFaults' | 'answersNameTheirKey'>): Law => ({
  name: 'answers',
  after: on(['written'], (observation, history) => {
    const { orderId, newFacts = [] } = history.orders.get(observation.after.orderId) ?? {};
    for (const fact of newFacts) {
      const wrong =
        fact.type === 'FaultRaised' ? wrongFault(fact, setting) : setting.answersNameTheirKey ? wrongOutput(`${orderId}`, fact) : undefined;
      if (wrong !== undefined) return `order ${orderId}: ${wrong}`;
    }
    return undefined;
  }),
});

function wrongFault(
  { path, fault }: Raised,
  { declaredFaults, answersNameTheirKey }: Pick<Setting, 'declaredFaults' | 'answersNameTheirKey'>,
): string | undefined {
  const { type, class: faultClass, permanent, message, source, data } = fault;
  const name = type.slice(type.lastIndexOf('/') + 1);
  if (!declaredFaults.some((declared) => declared.name === name))
    return faultClass === 'expected' && name !== 'ChildNotCompleted'
      ? `fault ${type} of ${path} is recorded as expected, but no agent declares it`
      : undefined;
  // A service of the simulation quotes its input at the beginning of its message, and again in the data of the fault.
  const isByService = answersNameTheirKey && message.startsWith('No "{');
  const { why, quoted } = (data ?? {}) as { readonly why?: string; readonly quoted?: unknown };
  const isRight = permanent && faultClass === 'expected' && (!isByService || (why === name && typeof quoted === 'string'));
  return isRight && (source === undefined || source.startsWith('order'))
    ? undefined
    : `the journal records the refusal of ${path} wrongly: ${JSON.stringify(fault)}`;
}

function wrongOutput(orderId: string, fact: JournalEntry): string | undefined {
  if (fact.type !== 'ActivityClosed' || fact.result !== 'Succeeded' || fact.attemptId === undefined) return undefined;
  const { id } = (fact.output ?? {}) as { readonly id?: unknown };
  if (id === undefined) return undefined;
  const key = `${orderId}/${fact.path}/${fact.attemptId.slice(0, fact.attemptId.indexOf('#'))}`;
  return id === key ? undefined : `step ${fact.path} is recorded with the output id ${String(id)}, expected ${key}`;
}
