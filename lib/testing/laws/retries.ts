import type { Retry } from '#core/activities/retry';
import type { StepState } from '#core/activities/step';
import { nodeAt, parentOf } from '#core/definition/program';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { Tracked } from '#testing/world/history';
import { type Law, on, operationIn, type Setting } from './law.ts';

const triesMaxDefault = 8;

interface Failed {
  readonly retry: Retry;
  /** Which run it was. */
  readonly attempt: number;
  /** When it failed, or when the last of it was undone. */
  since: number;
  isRunAgain: boolean;
}

/** S14: what fails is run again as often as its workflow says, and after no shorter pause; and an agent tries as often as its operation says. */
export function retries(setting: Pick<Setting, 'agents'>): Law {
  /** By the path of the retry in its order: the run of it that failed last. */
  const failed = new Map<string, Failed>();
  return {
    name: 'retries',
    after: on(['agent event', 'written'], (observation, history) => {
      if (observation.type === 'agent event') {
        const { event } = observation;
        const triesMax = operationIn(setting, event.what === 'calls' ? event.operation : '')?.attemptsMax ?? triesMaxDefault;
        return event.what === 'calls' && event.tries > triesMax ? `${event.requestId} is tried ${event.tries} times` : undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      return order?.news.map((fact) => wrongIn(fact, order)).find((wrong) => wrong !== undefined);
    }),
  };

  function wrongIn(fact: JournalEntry, order: Tracked): string | undefined {
    if (fact.type === 'RunFailed') return runFailed(fact, order);
    if (fact.type === 'ActivityClosed') return void closed(fact, order.orderId);
    if (fact.type !== 'ActivityStarted' && fact.type !== 'StepRequested') return undefined;
    const run = failed.get(`${order.orderId}/${parentOf(fact.path)}`);
    // A handler of the retry itself is no run of it.
    if (run && !fact.path.endsWith(`/${run.retry.do.name}`)) return undefined;
    const isForIt = (order.instance.state.activities[fact.path]?.local as StepState | undefined)?.mode === undefined;
    // A step is asked again within the same run as well: only what begins says that it is another one.
    if (!run || (fact.type === 'StepRequested' && (run.isRunAgain || !isForIt))) return undefined;
    if (run.isRunAgain) return `${order.orderId} runs ${fact.path} again, and its last run has not failed`;
    run.isRunAgain = true;
    const pauseMs = fact.at - run.since;
    return pauseMs < run.retry.intervalSeconds * 1000
      ? `${order.orderId} runs ${fact.path} again after ${pauseMs} ms, and is to wait for ${run.retry.intervalSeconds} s`
      : undefined;
  }

  function runFailed(
    { path, attempt, at }: Extract<JournalEntry, { type: 'RunFailed' }>,
    { orderId, program }: Tracked,
  ): string | undefined {
    const key = `${orderId}/${path}`;
    if (!program) return undefined;
    const retry = nodeAt(program, path) as Retry;
    const before = failed.get(key)?.attempt ?? 0;
    failed.set(key, { retry, attempt, since: at, isRunAgain: false });
    if (attempt !== before + 1) return `${key} has its run ${attempt} fail after its run ${before}`;
    return attempt > retry.retries ? `${key} goes on after ${attempt} runs, and may begin ${retry.retries + 1}` : undefined;
  }

  /** What the last run did is undone, or found out not to be done, before the pause to the next one begins. */
  function closed({ path, at }: Extract<JournalEntry, { type: 'ActivityClosed' }>, orderId: string): void {
    failed.delete(`${orderId}/${path}`);
    for (const [key, run] of failed)
      if (run.retry.undoFirst && !run.isRunAgain && `${orderId}/${path}`.startsWith(`${key}/`)) run.since = at;
  }
}
