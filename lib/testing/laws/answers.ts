import type { JournalEntry } from '#roles/scheduler/instance';
import { type Law, on, type Setting } from './law.ts';

type Raised = Extract<JournalEntry, { type: 'FaultRaised' }>;

/** What a service answered is what the journal says of it, word for word: its output, and its refusal with its data. */
export const answers = (setting: Pick<Setting, 'declaredFaults' | 'answersNameTheirKey'>): Law => ({
  name: 'answers',
  after: on(['written'], (observation, history) => {
    const { orderId, news = [] } = history.orders.get(observation.after.orderId) ?? {};
    for (const fact of news) {
      const wrong =
        fact.type === 'FaultRaised' ? wrongFault(fact, setting) : setting.answersNameTheirKey ? wrongOutput(`${orderId}`, fact) : undefined;
      if (wrong !== undefined) return `${orderId}: ${wrong}`;
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
    return faultClass === 'expected' && name !== 'ChildNotCompleted' ? `${type} at ${path} is said to be declared` : undefined;
  const isByService = answersNameTheirKey && message.startsWith('No "{');
  const { why, quoted } = (data ?? {}) as { readonly why?: string; readonly quoted?: unknown };
  const isRight = permanent && faultClass === 'expected' && (!isByService || (why === name && typeof quoted === 'string'));
  return isRight && (source === undefined || source.startsWith('order'))
    ? undefined
    : `${path} was refused, and the journal says ${JSON.stringify(fault)}`;
}

function wrongOutput(orderId: string, fact: JournalEntry): string | undefined {
  if (fact.type !== 'ActivityClosed' || fact.result !== 'Succeeded' || fact.attemptId === undefined) return undefined;
  const { id } = (fact.output ?? {}) as { readonly id?: unknown };
  if (id === undefined) return undefined;
  const key = `${orderId}/${fact.path}/${fact.attemptId.slice(0, fact.attemptId.indexOf('#'))}`;
  return id === key ? undefined : `${key} has answered ${String(id)}`;
}
