import { person } from '../../api/session.ts';
import type { Task } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.ts';
import { stepName } from '../../parts/text.tsx';

interface KindLook {
  readonly icon: IconName;
  readonly tone: string;
  readonly name: string;
}

const kinds: { readonly [kind: string]: KindLook } = {
  fault: { icon: 'stop', tone: 'c-stop', name: 'fault' },
  question: { icon: 'question', tone: 'c-work', name: 'question' },
  'undo-stuck': { icon: 'stuck', tone: 'c-stop', name: 'stuck undo' },
  'outcome-unknown': { icon: 'unknown', tone: 'c-warn', name: 'outcome unknown' },
  inconsistency: { icon: 'linked', tone: 'c-warn', name: 'inconsistency' },
  'dead-letter': { icon: 'letter', tone: '', name: 'dead letter' },
  rule: { icon: 'rule', tone: 'c-work', name: 'rule' },
};

export const kindLooks = Object.values(kinds);
export const lookOfKind = ({ kind }: Pick<Task, 'kind'>): KindLook => kinds[kind] ?? { icon: 'tasks', tone: '', name: kind };

/** Returns the question of a task, in one line. */
export function askOf({ kind, fault, question, text }: Task): string {
  const at = fault?.source === undefined ? '' : ` at ${stepName(fault.source)}`;
  if (kind === 'question') return question?.text ?? 'The workflow asks a person.';
  if (kind === 'undo-stuck')
    return `The undo of ${stepName((fault?.source ?? 'a step').replace(/\/undo$/, ''))} is stuck${fault ? `: ${fault.type}` : ''}`;
  if (kind === 'outcome-unknown')
    return `Nobody knows whether ${stepName(fault?.source ?? 'a step')} was done${fault ? `: ${fault.type}` : ''}`;
  if (fault) return `${fault.type}${at}`;
  return text ?? lookOfKind({ kind }).name;
}

export const isMine = ({ assignee }: Pick<Task, 'assignee'>): boolean => assignee !== undefined && assignee === person.value?.subject;
