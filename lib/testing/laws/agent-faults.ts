import { isForged, type Law, on, type Setting } from './law.ts';

/** All that an agent may say itself when it has nothing to show. */
const ofAgents = ['NotDone', 'OutcomeUnknown', 'Canceled', 'ServiceUnavailable', 'RequestRefused'];

interface Reply {
  readonly type: string;
  readonly requestId: string;
  /** What is put back for a newer version of the program may be anything. */
  readonly result?: {
    readonly status: string;
    readonly fault?: { readonly type: string; readonly message: string; readonly permanent: boolean; readonly outcomeUnknown?: boolean };
  };
}

/**
 * F-30, S11: what an agent says of a fault has a name that its service has given it, or one of its own: services here answer as they
 * should, and where they know of nothing that is no wrong answer. Of what it says was never sent there is no effect, ever.
 */
export function agentFaults(setting: Pick<Setting, 'declaredFaults' | 'undeclaredFaults' | 'forgedWord'>): Law {
  const known = new Set([...setting.declaredFaults.map(({ name }) => name), ...(setting.undeclaredFaults ?? []), ...ofAgents]);
  /** Effects, by their keys. */
  const neverSent = new Set<string>();
  return {
    name: 'agent faults',
    after: on(['sent', 'effect'], (observation, history) => {
      if (observation.type === 'effect')
        return neverSent.has(observation.key) ? `${observation.operation} is done for ${observation.key}, which was never sent` : undefined;
      const { queue, body } = observation;
      if (!queue.endsWith('-replies') || queue === 'workflows-replies' || isForged(body, setting)) return undefined;
      const { type: kind, requestId, result } = JSON.parse(body) as Reply;
      if (kind !== 'reply' || result?.status !== 'failed' || !result.fault) return undefined;
      const { type, message, permanent, outcomeUnknown = false } = result.fault;
      if (setting.undeclaredFaults && (!known.has(type) || message.length < 3))
        return `${requestId} is answered with ${JSON.stringify(result.fault)}`;
      if (type !== 'Canceled' || !permanent || outcomeUnknown) return undefined;
      const key = requestId.slice(0, requestId.lastIndexOf('#'));
      neverSent.add(key);
      return history.effects.has(key) ? `${requestId} is said to have never been sent, and is done` : undefined;
    }),
  };
}
