import { advance } from '#core/advance';
import type { Event } from '#core/data/event';
import { initialState, type State } from '#core/data/state';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';

/**
 * The core alone, on one core and without any I/O: events a second through a sequence of ten steps, and the time that
 * one answer takes while so many other branches are at work.
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

/** Brings one order to its end, and says how many events that took. */
function finish(definition: WorkflowDefinition): number {
  const program = programOf(definition);
  const asked: string[] = [];
  let state: State = initialState;
  let events = 0;
  const happen = (event: Event): void => {
    const transition = advance(program, subject, state, event);
    state = transition.state;
    for (const command of transition.commands) if (command.type === 'request') asked.push(command.requestId);
    events += 1;
  };
  happen({ type: 'started', stepMs: 30_000, at: 0, epoch: 1 });
  for (let next = 0; next < asked.length; next++)
    happen({
      type: 'replied',
      at: 1,
      epoch: 1,
      requestId: asked[next] ?? '',
      sentAt: 1,
      reply: { status: 'succeeded', output: { id: 'x' } },
    });
  if (state.outcome !== 'completed') throw new Error(`The order ended ${state.outcome}.`);
  return events;
}

/** The best of ten slices, and the one in the middle: on a machine that others use, too, the first says more of the core. */
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

/** One answer, and the next asking that it leads to, while `live` branches are at work. */
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
  const measure = (for_: number): number => {
    const started = performance.now();
    let events = 0;
    for (; performance.now() < started + for_; events++) advance(program, subject, state, answers[events % live] as Event);
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
