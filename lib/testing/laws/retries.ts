import type { Retry } from '#core/activities/retry';
import type { StepState } from '#core/data/step-state';
import { nodeAt, parentOf } from '#core/definition/program';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { Tracked } from '#testing/world/history';
import { type Law, on, operationIn, type Setting } from './law.ts';

/** The most tries of an agent for an operation without `attemptsMax`. */
const triesMaxDefault = 8;

interface Failed {
  readonly retry: Retry;
  /** Number of the run. */
  readonly attempt: number;
  /** Time at which the run failed, or at which its last effect was undone. */
  since: number;
  isRunAgain: boolean;
}

/**
 * A retry makes at most the runs that its workflow allows, each after its pause. An agent makes at most the tries of its operation (S14).
 */
export function retries(setting: Pick<Setting, 'agents'>): Law {
  /** The last failed run of each retry, by order and path. */
  const failed = new Map<string, Failed>();
  return {
    name: 'retries',
    after: on(['agent event', 'written'], (observation, history) => {
      if (observation.type === 'agent event') {
        const { event } = observation;
        const triesMax = operationIn(setting, event.what === 'calls' ? event.operation : '')?.attemptsMax ?? triesMaxDefault;
        return event.what === 'calls' && event.tries > triesMax
          ? `request ${event.requestId}: its agent made ${event.tries} tries, allowed ${triesMax}`
          : undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      return order?.newFacts.map((fact) => wrongIn(fact, order)).find((wrong) => wrong !== undefined);
    }),
  };

  function wrongIn(fact: JournalEntry, order: Tracked): string | undefined {
    if (fact.type === 'RunFailed') return runFailed(fact, order);
    if (fact.type === 'ActivityClosed') return void closed(fact, order.orderId);
    if (fact.type !== 'ActivityStarted' && fact.type !== 'StepRequested') return undefined;
    const run = failed.get(`${order.orderId}/${parentOf(fact.path)}`);
    // A handler of the retry itself is not a run.
    if (run && !fact.path.endsWith(`/${run.retry.do.name}`)) return undefined;
    const isNewRun = (order.instance.state.activities[fact.path]?.local as StepState | undefined)?.mode === undefined;
    // A step may be requested again within one run. Only the first start shows a new run.
    if (!run || (fact.type === 'StepRequested' && (run.isRunAgain || !isNewRun))) return undefined;
    if (run.isRunAgain) return `order ${order.orderId}: ${fact.path} began another run before its last run failed`;
    run.isRunAgain = true;
    const pauseMs = fact.at - run.since;
    return pauseMs < run.retry.intervalSeconds * 1000
      ? `order ${order.orderId}: ${fact.path} began another run after ${pauseMs} ms, expected at least ${run.retry.intervalSeconds} s`
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
    if (attempt !== before + 1) return `retry ${key}: run ${attempt} failed after run ${before}`;
    return attempt > retry.retries ? `retry ${key} continues after ${attempt} runs, allowed ${retry.retries + 1}` : undefined;
  }

  /** Moves the start of the pause: it begins after the effects of the last run are undone or confirmed absent. */
  function closed({ path, at }: Extract<JournalEntry, { type: 'ActivityClosed' }>, orderId: string): void {
    failed.delete(`${orderId}/${path}`);
    for (const [key, run] of failed)
      if (run.retry.undoFirst && !run.isRunAgain && `${orderId}/${path}`.startsWith(`${key}/`)) run.since = at;
  }
}
