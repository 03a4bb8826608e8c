import { announcedAs } from '#ports/records';
import { type Law, on } from './law.ts';

/** An order that goes into Error raises a new alert in the same write. Each alert is delivered, always with the same text (S17, L4). */
export const alerts = (): Law => ({
  name: 'alerts',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    if (before.processState === 'Error' || after.processState !== 'Error') return undefined;
    const id = `${announcedAs(after)}#${after.errorGen}`;
    // If messages are sent within the write, the alert is already published.
    const isRaised = after.outbox.some((entry) => entry.id === id) || history.announced.has(id);
    return after.errorGen === before.errorGen + 1 && isRaised ? undefined : `order ${after.orderId} went into Error without a new alert`;
  }),
  atEnd: (history) => [
    ...[...history.orders.values()].flatMap(({ state }) =>
      Array.from({ length: state.errorGen }, (_, index) => `${announcedAs(state)}#${index + 1}`)
        .filter((id) => !history.announced.has(id))
        .map((id) => `alert ${id} was never announced`),
    ),
    // Several processes may announce the same dead letter or unreadable record, in different words under one id.
    ...[...history.announced]
      .filter(([id, texts]) => id.startsWith('ord_') && !id.endsWith('/unreadable') && texts.size > 1)
      .map(([id]) => `alert ${id} was announced with different texts`),
  ],
});
