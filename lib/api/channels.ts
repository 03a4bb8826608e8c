import type * as z from 'zod';
import { hasCalls } from '#core/checks/calls';
import { workflowsAgent } from '#core/data/child-order';
import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { Definitions } from '#ports/definitions';
import { collections, type DocumentCount } from '#ports/documents';
import { queueNames, timeText } from '#ports/messages';
import type { QueueDepth } from '#ports/queues';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { type Beside, type ChangeOutcome, type ChannelState, channelState, isReleasing } from '#roles/channels/state';
import { audited } from './audited.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ChannelCloseBody, ChannelOpenBody } from './schemas/channels.ts';
import type { PageQuery } from './schemas/common.ts';

/** Lists the agents' queue pairs and the consumers' queues with their circuit breakers, and the engine's own queues. */
export async function listChannels({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['channels', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const rest = channelsIn(api.definitions).filter((name) => name > String(after[0]));
  const items = await Promise.all(rest.slice(0, query.limit).map((name) => channelView(name, api)));
  const last = items.at(-1);
  return json(200, { items, next: rest.length > items.length && last ? sealCursor([last.name], scope) : null });
}

/** Closes a channel: functions stop consuming its queue until an operator opens it. */
export const closeOne = (call: Call<unknown, unknown, z.output<typeof ChannelCloseBody>>): Promise<Answer | Refusal> => {
  const { reason } = call.body;
  return changeState(call, { to: 'closed', reason }, (name, beside) =>
    closeChannel(name, shutQueueOf(name, call.api.definitions), changeOf(call, reason), call.api.store, beside),
  );
};

/** Opens a channel: the messages that waited are released in order of arrival. */
export const openOne = (call: Call<unknown, unknown, z.output<typeof ChannelOpenBody>>): Promise<Answer | Refusal> => {
  const { canary = false, reason = 'opened by an operator' } = call.body;
  return changeState(call, { to: 'open', reason, ...(canary ? { canary } : {}) }, (name, beside) =>
    openChannel(name, { ...changeOf(call, reason), canary: canary && hasBreaker(name, call.api.definitions) }, call.api.store, beside),
  );
};

const changeOf = ({ api, caller }: Pick<Call, 'api' | 'caller'>, reason: string) => ({ by: caller.subject, reason, now: api.clock.now() });

interface StateChange {
  readonly to: ChannelState['state'];
  readonly reason: string;
  readonly canary?: true;
}

async function changeState(
  call: Call,
  { to, reason, ...more }: StateChange,
  work: (name: string, beside: Beside) => Promise<ChangeOutcome>,
): Promise<Answer | Refusal> {
  const { api, caller, requestId, name } = call;
  if (!channelsIn(api.definitions).includes(name)) return refuse('not-found');
  const before = await channelState(name, api.store);
  if ((before?.state ?? 'open') === to) return already(name, to);
  const action = { kind: 'channel', target: name, action: to === 'open' ? 'open' : 'close', reason } as const;
  const { outcome } = await audited(
    call,
    action,
    (entry) => work(name, (current) => entry(auditView(current), { state: to, ...more })),
    (changed) => changed.outcome !== 'unchanged',
  );
  if (outcome === 'unchanged') return already(name, to);
  api.telemetry.log('info', `channel ${to}`, { requestId, by: caller.subject, channel: name });
  return json(200, await channelView(name, api));
}

const auditView = (channel: ChannelState | undefined) =>
  channel ? { state: channel.state, by: channel.by, at: timeText(channel.at), reason: channel.reason } : { state: 'open' };

const already = (name: string, state: ChannelState['state']): Refusal =>
  refuse('conflict', { errors: [{ pointer: '', code: `is-${state}`, detail: `The channel ${name} is already ${state}.` }] });

const isAgent = (name: string, { agents }: Definitions): boolean => agents.some((agent) => agent.name === name);
const isConsumer = (name: string, { consumers }: Definitions): boolean => consumers.some((consumer) => consumer.name === name);
const hasBreaker = (name: string, definitions: Definitions): boolean => isAgent(name, definitions) || isConsumer(name, definitions);

function channelsIn(definitions: Definitions): readonly string[] {
  const { agents, consumers } = definitions;
  const workflows = definitions.names().flatMap((name) => definitions.newest(name)?.definition ?? []);
  const calls = hasCalls(workflows) ? [workflowsAgent] : [];
  return [...[...agents, ...consumers].map(({ name }) => name), ...calls, queueNames.submissions, queueNames.wakeUps].toSorted();
}

const isPair = (name: string, definitions: Definitions): boolean => isAgent(name, definitions) || name === workflowsAgent;

/** Closing an agent's channel stops its requests only; its outstanding replies still come in. */
const shutQueueOf = (name: string, definitions: Definitions): string =>
  isPair(name, definitions) ? queueNames.requests(name) : isConsumer(name, definitions) ? queueNames.messages(name) : name;

async function channelView(name: string, { queues, store, clock, definitions }: Call['api']) {
  const now = clock.now();
  const depthOf = async (queue: string) => depthView(await queues.depth(queue));
  const [state, deadLetters, requests, replies, breaker] = await Promise.all([
    channelState(name, store),
    store.countDocuments(collections.deadLetters(name), deadLettersMax),
    depthOf(shutQueueOf(name, definitions)),
    isPair(name, definitions) ? depthOf(queueNames.replies(name)) : undefined,
    hasBreaker(name, definitions) ? store.breaker(name).then((found) => breakerView(found, now)) : undefined,
  ]);
  return {
    name,
    ...stateView(state, now),
    ...countView(deadLetters),
    requests,
    ...(replies ? { replies } : {}),
    ...(breaker ? { breaker } : {}),
  };
}

/** The most dead letters that are counted for one channel. */
const deadLettersMax = 100;

const countView = ({ count, more }: DocumentCount) => ({ deadLetters: count, ...(more ? { moreDeadLetters: true } : {}) });

/** Returns the state of a channel as people see it. For a channel that was never closed, it has no `since`, `by` and `reason`. */
function stateView(state: ChannelState | undefined, now: number) {
  if (!state) return { open: true, failuresInRow: 0 };
  const { failuresInRow, closedAt, at, by, reason } = state;
  if (closedAt === null) return { open: true, failuresInRow };
  return { open: state.state === 'open', failuresInRow, releasing: isReleasing(state, now), since: timeText(at), by, reason };
}

const depthView = ({ visible, inFlight, delayed, oldestAgeMs }: QueueDepth) => ({ visible, inFlight, delayed, oldestAgeMs });

/** Returns a circuit breaker as people see it. Of a closed one, they see only the phase. */
function breakerView(breaker: Breaker | undefined, now: number) {
  const phase = phaseOf(breaker, now);
  if (!breaker || phase === 'closed') return { phase };
  const { openedAt, closedAt, probeAt, failedProbes } = breaker;
  return {
    phase,
    awaySince: timeText(openedAt),
    failedProbes,
    ...(closedAt === null ? { nextProbeAt: timeText(probeAt) } : { backSince: timeText(closedAt) }),
  };
}
