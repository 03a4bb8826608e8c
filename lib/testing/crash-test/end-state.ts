import type { Embedded } from '#adapters/sqlite/open';
import { shortType } from '#core/data/fault';
import { behaviorAt, nodeAt } from '#core/definition/program';
import { queueNames } from '#ports/messages';
import { announcedAs, type Outcome } from '#ports/records';
import type { History, Tracked } from './history.ts';

/** How an order ended, or where it rests: `held` and `stuck` in front of a person, `waits` for a signal. */
export interface Ending {
  readonly outcome: Outcome | 'blocked' | 'stuck' | 'waits' | 'not at rest' | 'not stored';
  /** Why, for people: `blocked for CardDeclined`. */
  readonly text: string;
  /** In front of a person, who was told. */
  readonly told: boolean;
}

/** Ids of all that was announced. */
const announced = ({ publisher }: Embedded): ReadonlySet<string> => new Set(publisher.published(0, 10_000).map(({ id }) => id));

/** A step whose undo does not succeed, or whose outcome cannot be found out, and of which a person was told. */
const stuckIn = ({ state }: Tracked, ids: ReadonlySet<string>): boolean =>
  [...ids].some((id) => id.startsWith(`${announcedAs(state)}/stuck/`));

/** So often has it failed by now that it will go on like that. */
const isInVain = ({ journal }: Tracked): boolean => journal.filter(({ type }) => type === 'UndoFailed').length >= vainMax;

const vainMax = 12;

/** Nothing is on its way, and nothing will happen by time alone; or what happens will not change where the order stands. */
export function isAtRest(
  history: History,
  embedded: Embedded,
  { queues: consumed, now }: { queues: ReadonlySet<string>; now: number },
): boolean {
  const messages = embedded.database.prepare('SELECT queue, receiveCount, visibleAt FROM messages').all() as {
    queue: string;
    receiveCount: number;
    visibleAt: number;
  }[];
  // A wake-up that waits for its time is a hint: what is due stands in the worklist.
  const isUnderWay = ({ queue, receiveCount, visibleAt }: (typeof messages)[number]) =>
    consumed.has(queue) && (receiveCount > 0 || visibleAt <= now || queue !== queueNames.wakeUps);
  if (messages.some(isUnderWay)) return false;
  const due = [...history.orders.values()].filter(({ state }) => state.worklist === 'due');
  if (due.length === 0) return true;
  const ids = announced(embedded);
  return due.every((order) => order.state.outbox.length === 0 && ((stuckIn(order, ids) && isInVain(order)) || asksInVain(history, order)));
}

/** It only asks again and again how an order fares that it has called, and that rests itself. */
function asksInVain(history: History, { orderId, program, instance }: Tracked): boolean {
  const { activities, endBy } = instance.state;
  const waits = Object.entries(activities).every(([path, { local }]) => {
    const { activity } = nodeAt(program, path);
    return activity === 'call' || (activity !== 'step' && behaviorAt(program, path).wakeAt?.(local) === undefined);
  });
  const open = history.childrenOf(orderId).filter(({ state }) => state.processState !== 'Processed');
  const rests = (child: Tracked): boolean => child.state.worklist !== 'due' || asksInVain(history, child);
  return endBy === undefined && waits && open.length > 0 && open.every(rests);
}

export function endingOf(history: History, embedded: Embedded, orderId: string, rested: boolean): Ending {
  const main = history.orders.get(orderId);
  if (!main) return { outcome: 'not stored', text: 'is not stored', told: false };
  const { processState, outcome } = main.state;
  if (processState === 'Processed' && outcome) return { outcome, text: `ended as ${outcome}`, told: false };
  if (!rested) return { outcome: 'not at rest', text: `does not come to rest, and is ${processState}`, told: false };
  const ids = announced(embedded);
  const family = familyOf(history, main);
  const held = family.find(({ state }) => state.processState === 'Error');
  if (held) {
    const told = ids.has(`${announcedAs(held.state)}#${held.state.errorGen}`);
    const type = shortType(held.state.fault?.type ?? 'a fault');
    return { outcome: 'blocked', text: `${held.label}is blocked for ${type}${told ? '' : ', and nobody was told'}`, told };
  }
  const stuck = family.find((order) => stuckIn(order, ids));
  if (stuck) return { outcome: 'stuck', text: `${stuck.label}has an undo that does not succeed`, told: true };
  const waits = family.flatMap(({ program, instance, label }) =>
    Object.keys(instance.state.activities)
      .map((path) => nodeAt(program, path))
      .flatMap((node) => (node.activity === 'waitFor' ? [`${label}waits for the signal ${node.signal}`] : [])),
  );
  return waits[0] === undefined
    ? { outcome: 'not at rest', text: `stays ${processState}, and nothing will ever happen to it`, told: false }
    : { outcome: 'waits', text: waits[0], told: false };
}

const familyOf = (history: History, order: Tracked): readonly Tracked[] => [
  order,
  ...history.childrenOf(order.orderId).flatMap((child) => familyOf(history, child)),
];
