import { announcedAs } from '#ports/records';
import type { History } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** S17, L4: whoever waits for a person has called one, at least once, under one id, with one text. */
export const alerts = ({ writesAndSendsAtomically }: Pick<Setting, 'writesAndSendsAtomically'>): Law => ({
  name: 'alerts',
  after: on(['written', 'published'], (observation, history) => {
    // Where it travels with the very write, it is seen first.
    if (observation.type === 'published') return writesAndSendsAtomically ? undefined : unwritten(observation.announcement.id, history);
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

function unwritten(id: string, { orders }: History): string | undefined {
  const [, orderId = '', number] = /^(ord_[a-z0-9]+)@\d+#(\d+)/.exec(id) ?? [];
  const order = orders.get(orderId);
  return order && id.startsWith(announcedAs(order.state)) && Number(number) > order.state.errorGen
    ? `the alert ${id} is announced, and no write says so`
    : undefined;
}
