import { announcedAs } from '#ports/records';
import { type Law, on } from './law.ts';

/** S17, L4: whoever waits for a person has called one, at least once, under one id, with one text. */
export const alerts = (): Law => ({
  name: 'alerts',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    if (before.processState === 'Error' || after.processState !== 'Error') return undefined;
    const id = `${announcedAs(after)}#${after.errorGen}`;
    // Where it travels with the very write, it is out by now.
    const isRaised = after.outbox.some((entry) => entry.id === id) || history.announced.has(id);
    return after.errorGen === before.errorGen + 1 && isRaised ? undefined : `${after.orderId} goes into Error without a new alert`;
  }),
  atEnd: (history) => [
    ...[...history.orders.values()].flatMap(({ state }) =>
      Array.from({ length: state.errorGen }, (_, index) => `${announcedAs(state)}#${index + 1}`)
        .filter((id) => !history.announced.has(id))
        .map((id) => `the alert ${id} was never announced`),
    ),
    // What is dead-lettered, and what nobody can read, is told anew by each who tries, under one id.
    ...[...history.announced]
      .filter(([id, texts]) => id.startsWith('ord_') && !id.endsWith('/unreadable') && texts.size > 1)
      .map(([id]) => `${id} was announced with different texts`),
  ],
});
