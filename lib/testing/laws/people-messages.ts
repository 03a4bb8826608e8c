import { isDeepStrictEqual } from 'node:util';
import { type Destination, destinationText } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import { peopleRecordsIn } from '#testing/world/people-records';
import { type Law, on } from './law.ts';

/** The least number of tries before a message is given up. */
const triesLeast = 9;

/** A message to one destination. */
interface Known {
  readonly message: PeopleMessage;
  readonly destination: Destination;
  tries: number;
  isConfirmed: boolean;
  isOver: boolean;
}

/**
 * Each message to people that was written arrives, perhaps several times, with the same id and the same content each time; or it is given up
 * after nine tries, and a task for admins names its destination. A receiver gets no other message (S40).
 */
export function peopleMessages(): Law {
  const known = new Map<string, Known>();
  const unreachable: string[] = [];
  const nameOf = ({ message, destination }: Known): string => `message ${message.id} to ${destinationText(destination)}`;
  return {
    name: 'people messages',
    after: on(['people recorded', 'message received', 'message removed'], (observation) => {
      if (observation.type === 'people recorded') {
        for (const record of peopleRecordsIn(observation)) {
          if (record.what === 'task' && record.task.kind === 'dead-letter') unreachable.push(record.task.text ?? '');
          if (record.what !== 'message') continue;
          const { message, destination, tries } = record.delivery;
          const before = known.get(record.id);
          if (before) before.tries = tries;
          else known.set(record.id, { message, destination, tries, isConfirmed: false, isOver: false });
        }
        return undefined;
      }
      if (observation.type === 'message received') {
        const { message, destination, isConfirmed } = observation;
        const sent = [...known.values()].find((each) => each.message.id === message.id && isDeepStrictEqual(each.destination, destination));
        if (!sent) return `${destinationText(destination)} got the message ${message.id}, which nobody has written`;
        sent.isConfirmed ||= isConfirmed;
        return isDeepStrictEqual(sent.message, message) ? undefined : `${nameOf(sent)} arrived with another content: ${message.text}`;
      }
      const ended = known.get(observation.id);
      if (!ended) return `the unknown message ${observation.id} was removed`;
      ended.isOver = true;
      if (ended.isConfirmed) return undefined;
      if (ended.tries < triesLeast) return `${nameOf(ended)} was given up after ${ended.tries} tries`;
      const isTold = unreachable.some((text) => text.includes(destinationText(ended.destination)));
      return isTold ? undefined : `${nameOf(ended)} was given up, and no task for admins says so`;
    }),
    atEnd: () => [...known.values()].flatMap((each) => (each.isOver ? [] : [`${nameOf(each)} is neither delivered nor given up`])),
  };
}
