import { isQuestion } from '#core/data/fault';
import type { Clock } from '#ports/clock';
import { printable, shortened, spanText } from '#ports/util/text';
import type { OrderAtRest } from '#runtime/system';

export interface OrderLinesOptions {
  /** Prints one line. */
  readonly say: (line: string) => void;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Returns the command that shows an order. */
  readonly getCommand: (orderId: string) => string;
}

/** The lines of a terminal about orders. */
export interface OrderLines {
  /** Prints a line about an order that is blocked or has ended, or counts it for the next summary. */
  show(rest: OrderAtRest): void;
  /** Prints the summary of the orders that were counted since the last summary. */
  stop(): void;
}

/** Above this number of lines in a second, a person cannot read them: one summary in each second replaces them. */
const linesMax = 10;
const secondMs = 1000;

/** The orders of one second, by how each came to rest. */
type Counts = ReadonlyMap<string, number>;

export function createOrderLines({ say, clock, getCommand }: OrderLinesOptions): OrderLines {
  const stopping = new AbortController();
  let begunAt = Number.NEGATIVE_INFINITY;
  let counts: Counts = new Map();
  let summarizing = false;

  const beginSecond = (): void => {
    begunAt = clock.now();
    counts = new Map();
  };
  const saySummary = (): void => {
    if (totalOf(counts) > 0) say(summaryText(counts));
  };

  async function summarize(): Promise<void> {
    while (summarizing) {
      await clock.sleep(Math.max(0, begunAt + secondMs - clock.now()), stopping.signal);
      if (stopping.signal.aborted) return;
      saySummary();
      summarizing = totalOf(counts) > linesMax;
      beginSecond();
    }
  }

  return {
    show(rest) {
      if (!summarizing && clock.now() - begunAt >= secondMs) beginSecond();
      const end = endOf(rest);
      counts = new Map([...counts, [end, (counts.get(end) ?? 0) + 1]]);
      if (summarizing) return;
      if (totalOf(counts) <= linesMax) return say(lineText(rest, getCommand));
      summarizing = true;
      void summarize();
    },
    stop() {
      stopping.abort();
      if (summarizing) saySummary();
      summarizing = false;
    },
  };
}

const totalOf = (counts: Counts): number => [...counts.values()].reduce((sum, each) => sum + each, 0);

/** Returns how an order came to rest: its outcome, or `blocked`. */
const endOf = ({ record: { processState, outcome } }: OrderAtRest): string =>
  processState === 'Processed' && outcome ? outcome : 'blocked';

/** Returns a summary such as `143 orders completed, 2 blocked in the last second`. */
function summaryText(counts: Counts): string {
  const parts = [...counts].map(([end, count], index) => `${count}${index > 0 ? '' : count === 1 ? ' order' : ' orders'} ${end}`);
  return `${parts.join(', ')} in the last second`;
}

/** Enough characters of an id for the other commands. */
const idCharacters = 12;
const outputCharactersMax = 300;
const messageCharactersMax = 120;

/** Returns one line: the order, its workflow, how and when it came to rest, and the output or the fault. */
function lineText(rest: OrderAtRest, getCommand: (orderId: string) => string): string {
  const { order, record, output } = rest;
  const { orderId, reference, workflow, submittedAt } = order;
  const id = orderId.slice(0, idCharacters);
  const { fault } = record;
  const end = endOf(rest);
  const isBlocked = end === 'blocked';
  const value = end === 'completed' ? output() : undefined;
  const cells = [
    id,
    `${workflow.name}${reference === undefined ? '' : ` (${shortened(reference, 40)})`}`,
    `${fault && isBlocked && isQuestion(fault) ? 'waits for an answer' : end} after ${spanText(record.updatedAt - submittedAt)}`,
    ...(value === undefined ? [] : [shortened(JSON.stringify(value), outputCharactersMax)]),
    ...(fault ? [faultText(fault, isBlocked)] : []),
    ...(isBlocked ? [getCommand(id)] : []),
  ];
  return printable(cells.join('  '));
}

type FaultOf = NonNullable<OrderAtRest['record']['fault']>;

/** Returns the fault and its path. A blocked order shows its message too, because a person has to decide. */
const faultText = ({ type, source, message }: FaultOf, withMessage: boolean): string =>
  `${type}${source === undefined ? '' : ` at ${source}`}${withMessage && message !== '' ? `: ${shortened(message, messageCharactersMax)}` : ''}`;
