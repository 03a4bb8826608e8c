import { advance } from '#core/advance';
import type { Event } from '#core/data/event';
import { initialState, type State } from '#core/data/state';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';

/**
 * Measures the core alone, on one processor core and without I/O: events per second through a sequence of ten steps, and the
 * time of one reply while many other branches run.
 */
const step = (name: string): Activity => ({ activity: 'step', name, agent: 'agent', operation: name, input: { id: { $cel: 'order.id' } } });
const listOf = <T>(length: number, entry: (index: number) => T): T[] => Array.from({ length }, (_, index) => entry(index));
const definitionOf = (root: Activity): WorkflowDefinition => ({
  name: 'bench',
  version: 1,
  exprVersion: 1,
  order: {},
  toOperator: [],
  root: { ...root, name: 'order' },
});

const order = { id: 'o1' };
const subject = { orderId: 'o1', order };

/** Runs one order to its end, and returns the number of its events. */
function finish(definition: WorkflowDefinition): number {
  const program = programOf(definition);
  const requested: string[] = [];
  let state: State = initialState;
  let events = 0;
  const happen = (event: Event): void => {
    const transition = advance(program, subject, state, event);
    state = transition.state;
    for (const command of transition.commands) if (command.type === 'request') requested.push(command.requestId);
    events += 1;
  };
  happen({ type: 'started', stepMs: 30_000, at: 0, epoch: 1 });
  for (let next = 0; next < requested.length; next++)
    happen({
      type: 'replied',
      at: 1,
      epoch: 1,
      requestId: requested[next] ?? '',
      sentAt: 1,
      reply: { status: 'succeeded', output: { id: 'x' } },
    });
  if (state.outcome !== 'completed') throw new Error(`The order ended ${state.outcome}.`);
  return events;
}

/** Measures ten slices of the time, and returns the best and the median rate. Other work slows some slices, so the best one says more. */
function eventsPerSecond(definition: WorkflowDefinition, ms: number): { best: number; median: number } {
  const slice = (): number => {
    const started = performance.now();
    let events = 0;
    while (performance.now() < started + ms / 10) events += finish(definition);
    return Math.round((events * 1000) / (performance.now() - started));
  };
  for (let warm = 0; warm < 5; warm++) slice();
  const slices = listOf(10, slice).sort((a, b) => a - b);
  return { best: slices[9] ?? 0, median: slices[5] ?? 0 };
}

/** Measures one reply and the next request that follows from it, while `live` branches run. */
function microsecondsPerEvent(live: number, ms: number): number {
  const branches = listOf(
    live,
    (index): Activity => ({ activity: 'sequence', name: `b${index}`, children: [step('first'), step('second')] }),
  );
  const program = programOf(definitionOf({ activity: 'parallel', name: 'order', children: branches }));
  const { state } = advance(program, subject, initialState, { type: 'started', stepMs: 30_000, at: 0, epoch: 1 });
  const answers = listOf(live, (index): Event => {
    const requestId = `o1/order/b${index}/first/1#1.1`;
    return { type: 'replied', at: 1, epoch: 1, requestId, sentAt: 1, reply: { status: 'succeeded', output: { id: 'x' } } };
  });
  const measure = (lengthMs: number): number => {
    const started = performance.now();
    let events = 0;
    for (; performance.now() < started + lengthMs; events++) advance(program, subject, state, answers[events % live] as Event);
    return ((performance.now() - started) * 1000) / events;
  };
  measure(ms / 4);
  return Number(measure(ms).toFixed(2));
}

const ms = Number(process.env['BENCH_MS'] ?? 2000);
const tenSteps = definitionOf({ activity: 'sequence', name: 'order', children: listOf(10, (index) => step(`s${index}`)) });
const { best, median } = eventsPerSecond(tenSteps, ms);
const figures = {
  bench: 'advance',
  eventsPerSecond: best,
  medianEventsPerSecond: median,
  microsecondsPerEvent: Object.fromEntries([10, 100, 1000].map((live) => [live, microsecondsPerEvent(live, ms / 2)])),
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
