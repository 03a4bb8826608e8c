import type { AgentEvent, AgentObservation } from '#testing/world/agent-event';
import type { Observation } from '#testing/world/observation';
import { type Law, lawOfSteadyProcesses, on, operationIn, type Setting } from './law.ts';

/** Of the time that there is, after which more of it is asked for. */
const beatsAfter = 0.3;
/** Times are written down in whole milliseconds, and nobody wakes between two. */
const slipMs = 2;
/** An asking is called for so soon after it is taken up, unless its process stands still. */
const soonMs = 100;

/** What one asking gives, as its copies say: by the clock of the order, and by that of whoever has it delivered. */
interface Given {
  /** Between these times it is over for whoever serves it. */
  readonly least: number;
  readonly most: number;
  /** When it was asked for, by the clock of the order. */
  readonly since: number;
}

interface Served {
  works: number;
  hasBeaten: boolean;
  /** Until when more time was asked for, and that was sent. */
  until: number;
  /** How much time there was when it was called for the first time. */
  leftMs: number;
  /** Until when its agent may ask for more, at the least. */
  last: number;
}

/** By the clock of its process, and by the world's. */
interface Moment {
  readonly now: number;
  readonly at: number;
}

type Asks = Extract<AgentEvent, { what: 'calls' }>;
type Hears = Extract<AgentEvent, { what: 'call ended' }>;
interface Call extends Omit<Asks, 'what' | 'call'>, Moment {}

type Askings = ReadonlyMap<string, Given>;

/** Of one process and one agent. */
class Process {
  private readonly calls = new Map<number, Call>();
  private readonly served = new Map<string, Served>();
  private readonly given: Askings;
  private readonly canceled: ReadonlySet<string>;
  private readonly setting: Pick<Setting, 'agents'>;

  constructor(given: Askings, canceled: ReadonlySet<string>, setting: Pick<Setting, 'agents'>) {
    this.given = given;
    this.canceled = canceled;
    this.setting = setting;
  }

  /** The longest that an operation may take; undefined where it may not ask for more time. */
  private longestSecondsOf(operation: string): number | undefined {
    return operationIn(this.setting, operation)?.longestSeconds;
  }

  takes({ now, event }: AgentObservation, at: number): string | undefined {
    switch (event.what) {
      case 'calls':
        return this.asks(event, { now, at });
      case 'call ended':
        return this.hears(event, now);
      case 'sends heartbeat':
        return this.beats(event, { now, at });
      case 'heartbeat sent': {
        const served = this.servedOf(event.requestId);
        served.until = Math.max(served.until, Date.parse(event.completeBy));
        return undefined;
      }
      default:
        return undefined;
    }
  }

  private servedOf(requestId: string): Served {
    const known = this.served.get(requestId) ?? { works: 0, hasBeaten: false, until: 0, leftMs: 0, last: Number.NaN };
    this.served.set(requestId, known);
    return known;
  }

  private asks({ call, ...asked }: Asks, { now, at }: Moment): string | undefined {
    const { requestId, operation, tries, completeBy, stoodStillUntil } = asked;
    this.calls.set(call, { ...asked, now, at });
    const served = this.servedOf(requestId);
    const { least = Number.NaN, most = Number.NaN, since = Number.NaN } = this.given.get(requestId) ?? {};
    if (tries === 1) {
      served.works += 1;
      served.leftMs = completeBy - now;
      // The longest time counts from the asking, or from when it is taken up.
      const isSoon = stoodStillUntil + soonMs < at;
      const last = Math.min(since, isSoon ? now - soonMs : Number.NaN) + 1000 * (this.longestSecondsOf(operation) ?? 0);
      served.last = served.works === 1 ? last : Math.min(served.last, last);
    }
    // Of two that serve the same it is not seen who has asked for more time.
    const from = served.works === 1 ? Math.max(least, served.until) : least;
    if (completeBy >= from - slipMs && completeBy <= Math.max(most, served.until) + slipMs) return undefined;
    return `calls for ${requestId} as if there were time until ${completeBy}, not ${from} to ${Math.max(most, served.until)}`;
  }

  private hears({ call, how, isStopping, stoodStillUntil }: Hears, now: number): string | undefined {
    const asked = this.calls.get(call);
    this.calls.delete(call);
    if (!asked) return undefined;
    const { requestId, completeBy, isAbandoned, at } = asked;
    const { works, until } = this.servedOf(requestId);
    const over = works === 1 ? Math.max(completeBy, until) : completeBy;
    if (how === 'abandoned' && now < over - slipMs && !isStopping && !isAbandoned && !this.canceled.has(requestId))
      return `gives ${requestId} up, ${over - now} ms before its time is over`;
    // Who stands still may wake when there is nothing left to ask for.
    const mustHaveBeaten = stoodStillUntil <= at && this.mustHaveBeaten(asked, now);
    return mustHaveBeaten ? `has not asked for more time for ${requestId} after ${now - asked.now} ms` : undefined;
  }

  private mustHaveBeaten({ requestId, operation, tries, completeBy, now: from }: Call, now: number): boolean {
    const { hasBeaten, last } = this.servedOf(requestId);
    if (this.longestSecondsOf(operation) === undefined || tries > 1 || hasBeaten) return false;
    return now > from + beatsAfter * (completeBy - from) + slipMs && completeBy < last - slipMs;
  }

  private beats(
    { requestId, completeBy, stoodStillUntil }: Extract<AgentEvent, { what: 'sends heartbeat' }>,
    { now, at }: Moment,
  ): string | undefined {
    const served = this.servedOf(requestId);
    served.hasBeaten = true;
    const until = Math.min(now + served.leftMs, served.last);
    const wants = Date.parse(completeBy);
    // It may be for a copy that has come late, and was not called for yet.
    const isForThis = served.works === 1 && stoodStillUntil + soonMs < at && wants - now > 10 * soonMs;
    return isForThis && wants < until - slipMs
      ? `asks for time until ${completeBy} for ${requestId}, and may have it until ${until}`
      : undefined;
  }
}

/**
 * S8, S16: an operation is told of as much time as its asking gives, and has it, unless it is canceled or its process is to stop;
 * what may take longer asks for more before a third of it is over, for as much as it was given at first.
 */
export function givenTimes(setting: Pick<Setting, 'now' | 'toleranceMs' | 'agents'>): Law {
  const { now, toleranceMs } = setting;
  const given = new Map<string, Given>();
  const canceled = new Set<string>();
  const steady = lawOfSteadyProcesses('given times', () => new Process(given, canceled, setting), { now });
  const sent = ({ queue, body }: Extract<Observation, { type: 'sent' }>): undefined => {
    if (!queue.endsWith('-requests') || queue.startsWith('workflows-')) return;
    const { type, requestId, completeBy, remainingMs } = JSON.parse(body) as { readonly [field: string]: string };
    if (requestId === undefined) return;
    if (type === 'cancel') canceled.add(requestId);
    if (type !== 'request') return;
    const by = Date.parse(`${completeBy}`);
    const asked = by - Number(remainingMs);
    const { least, most, since } = given.get(requestId) ?? { least: by, most: by, since: asked };
    given.set(requestId, {
      // Whoever serves it may be so far behind.
      least: Math.min(least, now() - toleranceMs / 2 + Number(remainingMs)),
      most: Math.max(most, by),
      since: Math.min(since, asked),
    });
  };
  return {
    name: 'given times',
    after: on(['sent', 'agent event', 'clock jumps'], (observation, history) =>
      observation.type === 'sent' ? sent(observation) : steady.after?.wrongWith(observation, history),
    ),
  };
}
