import type { Embedded } from '#adapters/sqlite/open';
import { shortType } from '#core/data/fault';
import { behaviorAt, nodeAt } from '#core/definition/program';
import { queueNames } from '#ports/messages';
import { announcedAs, type Outcome } from '#ports/records';
import type { History, Tracked } from '#testing/world/history';
import { labelOf } from './labels.ts';
import { restlessLines } from './restless.ts';

/** The end of an order, or its resting state: `blocked` and `stuck` wait for a person, `waits` for a signal. */
export interface Ending {
  readonly outcome: Outcome | 'blocked' | 'stuck' | 'waits' | 'not at rest' | 'not stored';
  /** The reason, as text: `blocked for CardDeclined`. */
  readonly text: string;
  /** Whether the order waits for a person and an alert says so. */
  readonly told: boolean;
  /** The waits of an order that does not come to rest: until when each lasts, and the stubs that would end them. */
  readonly waits?: readonly string[];
}

/** Whether an alert reports a step that cannot be undone, or whose outcome cannot be confirmed. */
const isStuck = ({ state }: Tracked, { announced }: History): boolean =>
  [...announced.keys()].some((id) => id.startsWith(`${announcedAs(state)}/stuck/`));

/** Whether undos failed so often (12 times) that more attempts change nothing. */
const isInVain = ({ journal }: Tracked): boolean => journal.filter(({ type }) => type === 'UndoFailed').length >= vainMax;

const vainMax = 12;

/** Whether no message is in transit and no timer will change the order. Hopeless repetition counts as rest. */
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
  // A message in a consumed queue is under way, unless it is a delayed wake-up that no function has received: such a wake-up only repeats
  // a due time of the worklist.
  const isUnderWay = ({ queue, receiveCount, visibleAt }: (typeof messages)[number]) =>
    consumed.has(queue) && (receiveCount > 0 || visibleAt <= now || queue !== queueNames.wakeUps);
  if (messages.some(isUnderWay)) return false;
  const due = [...history.orders.values()].filter(({ state }) => state.worklist === 'due');
  if (due.length === 0) return true;
  return due.every(
    (order) =>
      order.state.outbox.length === 0 && ((isStuck(order, history) && isInVain(order)) || pollsOnlyRestingChildren(history, order)),
  );
}

/** Whether the order only polls called orders that are at rest themselves. */
function pollsOnlyRestingChildren(history: History, { orderId, program, instance }: Tracked): boolean {
  if (!program) return false;
  const { activities, endBy } = instance.state;
  const waits = Object.entries(activities).every(([path, { local }]) => {
    const { activity } = nodeAt(program, path);
    return activity === 'call' || (activity !== 'step' && behaviorAt(program, path).wakeAt?.(local) === undefined);
  });
  const open = history.calledBy(orderId).filter(({ state }) => state.processState !== 'Processed');
  const rests = (child: Tracked): boolean => child.state.worklist !== 'due' || pollsOnlyRestingChildren(history, child);
  return endBy === undefined && waits && open.length > 0 && open.every(rests);
}

export function endingOf(history: History, orderId: string, rested: boolean): Ending {
  const main = history.orders.get(orderId);
  if (!main) return { outcome: 'not stored', text: 'is not stored', told: false };
  const { processState, outcome } = main.state;
  if (processState === 'Processed' && outcome) return { outcome, text: `ended as ${outcome}`, told: false };
  const family = familyOf(history, main);
  const isOpen = ({ state }: Tracked) => state.processState !== 'Processed';
  if (!rested)
    return {
      outcome: 'not at rest',
      text: `does not come to rest, and is ${processState}`,
      told: false,
      waits: restlessLines(family.filter(isOpen), history),
    };
  const blocked = family.find(({ state }) => state.processState === 'Error');
  if (blocked) {
    const told = history.announced.has(`${announcedAs(blocked.state)}#${blocked.state.errorGen}`);
    const type = shortType(blocked.state.fault?.type ?? 'a fault');
    return {
      outcome: 'blocked',
      text: `${labelOf(blocked.orderId, history)}is blocked for ${type}${told ? '' : ', without an alert'}`,
      told,
    };
  }
  const stuck = family.find((order) => isStuck(order, history));
  if (stuck) return { outcome: 'stuck', text: `${labelOf(stuck.orderId, history)}has an undo that keeps failing`, told: true };
  const waits = family.flatMap(({ orderId: id, program, instance }) =>
    Object.keys(instance.state.activities)
      .flatMap((path) => (program ? [nodeAt(program, path)] : []))
      .flatMap((node) => (node.activity === 'waitFor' ? [`${labelOf(id, history)}waits for the signal ${node.signal}`] : [])),
  );
  return waits[0] === undefined
    ? { outcome: 'not at rest', text: `stays ${processState}, with no message, timer or alert left`, told: false }
    : { outcome: 'waits', text: waits[0], told: false };
}

const familyOf = (history: History, order: Tracked): readonly Tracked[] => [
  order,
  ...history.calledBy(order.orderId).flatMap((child) => familyOf(history, child)),
];
