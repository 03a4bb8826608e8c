import { isForged, type Law, on, type Setting } from './law.ts';

/** Faults that an agent may report itself, without its service. */
const agentFaultTypes = ['NotDone', 'OutcomeUnknown', 'Canceled', 'ServiceUnavailable', 'RequestRefused', 'ProgrammingError'];

interface Reply {
  readonly type: string;
  readonly requestId: string;
  /** Undefined in a message of a newer version, which may have any shape. */
  readonly result?: {
    readonly status: string;
    readonly fault?: { readonly type: string; readonly message: string; readonly permanent: boolean; readonly outcomeUnknown?: boolean };
  };
}

/**
 * A fault in a reply has a type of the service, or one of the agent's own types (F-30). A request that its agent reports as never sent
 * has no effect, then or later (S11).
 */
export function agentFaults(setting: Pick<Setting, 'declaredFaults' | 'undeclaredFaults' | 'forgedWord'>): Law {
  const known = new Set([...setting.declaredFaults.map(({ name }) => name), ...(setting.undeclaredFaults ?? []), ...agentFaultTypes]);
  /** Idempotency keys of requests that an agent reported as canceled before it called its service. */
  const neverSent = new Set<string>();
  return {
    name: 'agent faults',
    after: on(['sent', 'effect'], (observation, history) => {
      if (observation.type === 'effect')
        return neverSent.has(observation.key)
          ? `${observation.operation} took effect under ${observation.key}, which its agent had reported as never sent`
          : undefined;
      const { queue, body } = observation;
      if (!queue.endsWith('-replies') || queue === 'workflows-replies' || isForged(body, setting)) return undefined;
      const { type: kind, requestId, result } = JSON.parse(body) as Reply;
      if (kind !== 'reply' || result?.status !== 'failed' || !result.fault) return undefined;
      const { type, message, permanent, outcomeUnknown = false } = result.fault;
      if (setting.undeclaredFaults && (!known.has(type) || message.length < 3))
        return `request ${requestId}: unknown fault or empty message in its reply: ${JSON.stringify(result.fault)}`;
      if (type !== 'Canceled' || !permanent || outcomeUnknown) return undefined;
      const key = requestId.slice(0, requestId.lastIndexOf('#'));
      neverSent.add(key);
      return history.effects.has(key) ? `request ${requestId}: its agent reports that it was never sent, but its effect exists` : undefined;
    }),
  };
}
