import { dayMs } from '#ports/util/days';
import { peopleRecordsIn } from '#testing/world/people-records';
import { type Law, on, type Setting } from './law.ts';

const minute = 60_000;
const periodMs = 15 * minute;
/** The most messages that a group of people gets in a period. */
const messagesMax = 10;

/**
 * Returns the least pause before message `number` of a notice: 15 minutes for 2, 30 for 3, twice as long each time, at most a day. Number 1
 * begins the count again, after a pause of at least a day.
 */
const pauseBefore = (number: number): number => (number === 1 ? dayMs : Math.min(dayMs, periodMs * 2 ** (number - 2)));

/**
 * Ten thousand tasks are never ten thousand messages: a group of people hears of alike tasks at once, then in summaries with growing
 * pauses, and gets at most ten messages in a period, about any task (S41). Messages have the times of the processes that write them.
 */
export function messageLimits({ toleranceMs }: Pick<Setting, 'toleranceMs'>): Law {
  /** The time of the last message of each notice. */
  const last = new Map<string, number>();
  const seen = new Set<string>();
  const groups = new Map<string, { since: number; taken: number; messages: number }>();
  const groupOf = (name: string) => {
    const group = groups.get(name) ?? { since: Number.NEGATIVE_INFINITY, taken: 0, messages: 0 };
    groups.set(name, group);
    return group;
  };

  function wrongWithAllowance(name: string, since: number, sent: number): string | undefined {
    const group = groupOf(name);
    if (since !== group.since && since - group.since < periodMs - toleranceMs)
      return `the group ${name} has a new period ${since - group.since} ms after the last one began`;
    group.since = since;
    group.taken += 1;
    return sent > messagesMax ? `the group ${name} takes message ${sent} in one period, allowed ${messagesMax}` : undefined;
  }

  function wrongWithMessage(name: string, { id, at }: { readonly id: string; readonly at: number }): string | undefined {
    if (seen.has(id)) return undefined;
    seen.add(id);
    const group = groupOf(name);
    group.messages += 1;
    if (group.messages > group.taken) return `the group ${name} gets the message ${id}, which nobody has counted`;
    const [, notice = '', number = '0'] = /^ntf_([a-z0-9]+)_[a-z0-9]+_(\d+)$/.exec(id) ?? [];
    const pause = at - (last.get(notice) ?? Number.NEGATIVE_INFINITY);
    last.set(notice, at);
    if (pause >= pauseBefore(Number(number)) - toleranceMs) return undefined;
    return `the group ${name} gets message ${number} about alike tasks ${pause} ms after the one before, ${id}`;
  }

  return {
    name: 'message limits',
    after: on(['people recorded'], (observation) => {
      for (const record of peopleRecordsIn(observation)) {
        const wrong =
          record.what === 'allowance'
            ? wrongWithAllowance(record.group, record.since, record.sent)
            : record.what === 'message'
              ? wrongWithMessage(record.delivery.group, record.delivery.message)
              : undefined;
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    }),
  };
}
