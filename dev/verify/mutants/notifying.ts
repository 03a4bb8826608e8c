import type { Mutant } from './mutant.ts';

const deliveries = 'lib/roles/notifier/deliveries.ts';
const notice = 'lib/core/notifications/notice.ts';
const reminders = 'lib/core/notifications/reminders.ts';
const tasks = 'lib/roles/tasks/tasks.ts';

/** Mistakes about what people hear of their tasks. */
export const notifying: readonly Mutant[] = [
  {
    name: 'a message is given up at the first failure',
    why: 'the next try is planned, and not made',
    file: deliveries,
    find: '    if (followingAt !== undefined) return agenda.remove(entry);\n',
    replace: '',
  },
  {
    name: 'a message that failed is never tried again',
    why: 'the try is written first, and the agenda has no entry for the next one',
    file: deliveries,
    find: '  await agenda.put(tryAt, subject);\n',
    replace: '',
  },
  {
    name: 'nobody gets a task about a message that is given up',
    why: 'the last try fails, and the log alone says so',
    file: deliveries,
    find: '    await options.destinations.open({ ...delivery, tries, id, reason: result.reason });\n',
    replace: '',
  },
  {
    name: 'each try of a message has its own id',
    why: 'a receiver that has seen the message takes it for another one',
    file: deliveries,
    find: 'sender.send(delivery.message, delivery.destination)',
    replace: `sender.send({ ...delivery.message, id: \`\${delivery.message.id}_\${tries}\` }, delivery.destination)`,
  },
  {
    name: 'a summary comes in each pass with news',
    why: 'the notice of alike tasks has no pause',
    file: notice,
    find: 'sentAt + (news ? pauseAfter(sent) : quietMs + pauseAfter(sent))',
    replace: 'sentAt + (news ? 0 : quietMs + pauseAfter(sent))',
  },
  {
    name: 'the pauses between summaries do not grow',
    why: 'thousands of tasks in a day are a message each quarter of an hour',
    file: notice,
    find: 'summaryPauses.first * 2 ** (sent - 1)',
    replace: 'summaryPauses.first',
  },
  {
    name: 'the messages of a group have no limit',
    why: 'hundreds of kinds of trouble are hundreds of messages',
    file: notice,
    find: '  if (current.sent >= messagesMax) return { until: current.since + periodMs };\n',
    replace: '',
  },
  {
    name: 'news replace the news that wait for a summary',
    why: 'the summary counts the last tasks alone',
    file: notice,
    find: 'opened: opened + (news?.opened ?? 0)',
    replace: 'opened',
  },
  {
    name: 'a muted notice forgets its news',
    why: 'a mute ends the notice instead of putting it off',
    file: notice,
    find: "if (mutedUntil > now) return { kind: 'wait', until: mutedUntil };",
    replace: "if (mutedUntil > now) return { kind: 'forget' };",
  },
  {
    name: 'an empty group hears of its tasks',
    why: 'the message of an empty group goes to nobody, and not to the admins',
    file: 'lib/roles/notifier/unattended.ts',
    find: '(await isEmpty(group)) ? adminsGroup : group',
    replace: '(await isEmpty(group)) ? group : group',
  },
  {
    name: 'a new task is not on the agenda',
    why: 'the task is opened, and the notifier does not look at it before it is due',
    file: 'lib/roles/exceptions/store.ts',
    find: 'return opening.length === 0 || (await read(entry)) ? opening',
    replace: 'return opening.length >= 0 || (await read(entry)) ? opening',
  },
  {
    name: 'the intervals between reminders do not grow',
    why: 'a task that nobody takes is a reminder each few minutes, for days',
    file: reminders,
    find: 'every * 1000) * 2 ** (reminder - 1)',
    replace: 'every * 1000)',
  },
  {
    name: 'a task stays with its group, however many reminders it gets',
    why: 'no reminder hands the task to the next group',
    file: reminders,
    find: 'if (reminders % 2 === 1) return',
    replace: 'if (reminders > 0) return',
  },
  {
    name: 'a reminder is counted, and the next one is forgotten',
    why: 'the agenda has no entry for the next reminder of a task',
    file: 'lib/roles/notifier/task-news.ts',
    find: '  await agenda.put(next.nextReminderAt ?? now, subject);\n',
    replace: '',
  },
  {
    name: 'a claim of a task writes its order',
    why: 'what another person has read of the order is outdated, and the decision is refused',
    file: tasks,
    find: "    return outcome === 'written' ? { outcome: 'done', task: next } : 'lost';\n",
    replace:
      "    const head = await store.head(task.orderId);\n    if (head) await store.patch({ ...head, rev: head.rev + 1 }, { rev: head.rev, epoch: head.epoch });\n    return outcome === 'written' ? { outcome: 'done', task: next } : 'lost';\n",
  },
];
