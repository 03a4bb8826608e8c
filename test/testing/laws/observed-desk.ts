import type { TestContext } from 'node:test';
import type { App } from 'redress';
import type { Definitions } from '#ports/definitions';
import type { StateRecord } from '#ports/records';
import type { Law } from '#testing/laws/law';
import { History } from '#testing/world/history';
import { instrumented, type PortCall } from '#testing/world/instrumented-ports';
import type { Observation } from '#testing/world/observation';
import { storedBy } from '#testing/world/port-observer';
import { type Desk, type DeskOptions, openDesk } from '../../roles/support.ts';

type Written = Extract<Observation, { type: 'written' }>;

interface ObservedDesk {
  readonly desk: Desk;
  /** The writes of all orders, oldest first. */
  readonly writes: readonly Written[];
  /** The violations of the law so far. */
  readonly found: readonly string[];
  /** Adds an observation, and has the law judge it. */
  record(observation: Observation): void;
}

/** Opens a desk whose writes a law judges. */
export function observedDesk(context: TestContext, app: App, law: Law, options: DeskOptions = {}): ObservedDesk {
  const writes: Written[] = [];
  const found: string[] = [];
  const states = new Map<string, StateRecord>();
  const observed = async (made: PortCall): Promise<unknown> => {
    const answer = await made.apply();
    const stored = storedBy(made, answer, (orderId) => states.get(orderId)?.blob ?? '');
    if (!stored) return answer;
    const { state: after, order } = stored;
    const write: Written = { type: 'written', before: states.get(after.orderId), after, order };
    states.set(after.orderId, after);
    writes.push(write);
    record(write);
    return answer;
  };
  const desk = openDesk(context, app, { ...options, around: ({ store }) => ({ store: instrumented('store', store, observed) }) });
  const history = historyOf(desk.system.definitions);
  const record = (observation: Observation): void => void found.push(...judged(law, observation, history));
  return { desk, writes, found, record };
}

/** Returns the violations of the law in these observations. */
export function judgedBy(law: Law, observations: readonly Observation[], definitions: Definitions): readonly string[] {
  const history = historyOf(definitions);
  return observations.flatMap((observation) => judged(law, observation, history));
}

const historyOf = (definitions: Definitions): History => new History({ definitions, responseQueue: 'redress-response-test' });

function judged({ after }: Law, observation: Observation, history: History): readonly string[] {
  history.record(observation);
  if (after?.kinds?.includes(observation.type) === false) return [];
  return [after?.wrongWith(observation, history) ?? []].flat();
}
