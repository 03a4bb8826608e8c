import { engineFault, type Fault } from '#core/data/fault';

/** Exceptions of a question to people (F-177). No handler of a workflow takes them: the rules decide, or a person. */
export const unattendedFaults = {
  groupEmpty: 'Engine/GroupEmpty',
  nobodyInTime: 'Engine/NobodyInTime',
} as const;

/** The reason why nobody takes the task of a question: its group has no members, or nobody has claimed it before it was due. */
export const unattendedReasons = ['group-empty', 'nobody-in-time'] as const;
export type UnattendedReason = (typeof unattendedReasons)[number];

/** Returns the exception of a question that nobody takes. `source`: the path of the question. */
export function unattendedFault(why: UnattendedReason, group: string, source: string): Fault {
  const more = { class: 'unexpected', source, data: { group } } as const;
  return why === 'group-empty'
    ? engineFault(unattendedFaults.groupEmpty, `The group ${group} has no members, so nobody answers the question.`, more)
    : engineFault(unattendedFaults.nobodyInTime, `Nobody of the group ${group} has claimed the question before it was due.`, more);
}
