import { stepOf } from '#core/activities/index';
import { definitionPath } from '#core/data/ids';
import { awaitsReply } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import type { Obstacle, Surroundings } from '#core/views/explain';
import { lastAnswers } from '#core/views/last-answers';
import { phaseOf } from '#ports/circuit-breaker';
import type { StateRecord } from '#ports/records';
import { channelState, isClosed } from '#roles/channels/state';
import type { Instance, JournalEntry } from '#roles/scheduler/instance';
import { lockHolderOf } from '#roles/scheduler/lease';
import type { Call } from './route.ts';

export interface Seen {
  readonly program: Program;
  readonly state: StateRecord;
  readonly instance: Instance;
  readonly journal: readonly JournalEntry[];
}

/** Reads why an order waits, apart from its own state: the circuit breakers and the channels of the agents that its open steps need. */
export async function surroundingsOf(
  api: Pick<Call['api'], 'store' | 'clock'>,
  { program, state, instance, journal }: Seen,
  childOf: (path: string, generation: number) => string,
): Promise<Surroundings> {
  const now = api.clock.now();
  const agents = state.processState === 'Processing' && !state.suspended ? agentsNeeded(program, instance) : [];
  const found = await Promise.all(agents.map(async (agent) => [agent, await obstacleOf(api, agent, now)] as const));
  const obstacles = new Map(found);
  const answers = lastAnswers(journal);
  const { heldBy, heldUntil } = state;
  const lock =
    heldBy !== null && heldUntil !== null && heldUntil > now ? { by: lockHolderOf(state) ?? heldBy, until: heldUntil } : undefined;
  return { childOf, lock, obstacleOf: (agent) => obstacles.get(agent), lastAnswerOf: (path) => answers.get(path) };
}

function agentsNeeded(program: Program, { state }: Instance): readonly string[] {
  const agents = Object.entries(state.activities).flatMap(([path, activity]) => {
    if (!program.nodes.has(definitionPath(path))) return [];
    const node = nodeAt(program, path);
    const step = stepOf(node, activity);
    return isRemote(node) && step && (awaitsReply(step) || step.phase === 'waitingToRetry') ? [node.agent] : [];
  });
  return [...new Set(agents)];
}

async function obstacleOf({ store }: Pick<Call['api'], 'store'>, agent: string, now: number): Promise<Obstacle | undefined> {
  const [channel, breaker] = await Promise.all([channelState(agent, store), store.breaker(agent)]);
  if (channel && isClosed(channel, now)) return { kind: 'closed-channel', since: channel.at, by: channel.by, reason: channel.reason };
  if (!breaker) return undefined;
  switch (phaseOf(breaker, now)) {
    case 'open':
      return { kind: 'away', since: breaker.openedAt, nextProbeAt: breaker.probeAt };
    case 'half-open':
      return { kind: 'recovering', since: breaker.closedAt ?? now };
    case 'closed':
      return undefined;
  }
}
