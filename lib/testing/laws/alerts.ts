import { announcedAs } from '#ports/records';
import type { History } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/**
 * An order that goes into Error raises a new alert in the same write. Each alert belongs to such a write, and is delivered, always with the
 * same text (S17, L4).
 */
export const alerts = ({ writesAndSendsAtomically }: Pick<Setting, 'writesAndSendsAtomically'>): Law => ({
  name: 'alerts',
  after: on(['written', 'published'], (observation, history) => {
    // If the store sends messages within a write, the alert is observed before its write.
    if (observation.type === 'published') return writesAndSendsAtomically ? undefined : withoutWrite(observation.announcement.id, history);
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

function withoutWrite(id: string, { orders }: History): string | undefined {
  const [, orderId = '', number] = /^(ord_[a-z0-9]+)@\d+#(\d+)/.exec(id) ?? [];
  const order = orders.get(orderId);
  return order && id.startsWith(announcedAs(order.state)) && Number(number) > order.state.errorGen
    ? `alert ${id} was announced without a write that raises it`
    : undefined;
}
