import type { UnattendedReason } from '#core/exceptions/unattended';
import { queueNames, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { TaskRecord } from '#ports/tasks';

/** The group of tasks that name no group. */
export const usualGroup = 'operators';
/** The group that is notified of the tasks of an empty group. */
const adminsGroup = 'admins';

export interface GroupPorts {
  /** Whether a group is known and has neither members nor destinations. */
  readonly isEmpty: (group: string) => Promise<boolean>;
}

/** Returns the group that is notified of the tasks of `group`: the admins if the group is empty. */
export const hearerOf = async (group: string, { isEmpty }: GroupPorts): Promise<string> => ((await isEmpty(group)) ? adminsGroup : group);

/** Whether a task is a question that nobody has claimed: if nobody takes such a task, the rules are asked. */
export const isOpenQuestion = ({ kind, state }: Pick<TaskRecord, 'kind' | 'state'>): boolean => kind === 'question' && state === 'open';

/** Reports to an order that nobody takes its question (F-177). The order takes a report with the same id once. */
export async function reportUnattended(
  { orderId, seq, group = usualGroup }: Pick<TaskRecord, 'orderId' | 'seq' | 'group'>,
  { id, why }: { readonly id: string; readonly why: UnattendedReason },
  { queues, now }: { readonly queues: Pick<Queues, 'send'>; readonly now: number },
): Promise<void> {
  const message = { v: 1, type: 'wake-up', orderId, sentAt: timeText(now), unattended: { id, seq, why, group } };
  await queues.send([{ queue: queueNames.wakeUps, body: JSON.stringify(message) }]);
}
