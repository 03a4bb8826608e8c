import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { StateHead } from '#ports/records';
import type { PeopleFor } from '#ports/tasks';
import type { Telemetry } from '#ports/telemetry';
import type { Actions, Counts } from './act.ts';
import type { BacklogMonitor } from './backlog-monitor.ts';
import { judgeBacklog, judgeExpiry, judgeOutage, type Outage, waitingSinceOf } from './judge.ts';
import type { Outages } from './outages.ts';

export interface LateStepsOptions {
  readonly outages: Pick<Outages, 'before'>;
  readonly actions: Pick<Actions, 'act'>;
  readonly backlog: Pick<BacklogMonitor, 'saw' | 'behindWith'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly telemetry: Telemetry;
  /** Returns the people for whom the tasks of a workflow are. */
  readonly peopleFor?: PeopleFor | undefined;
}

/** The late steps and claims of one pass. */
export interface LateSteps {
  /** Forgets what the previous pass has found. */
  begin(): void;
  /** Postpones a late step during an outage at once. Any other late step waits, to be judged together with the others of the pass. */
  found(head: StateHead, seen: { readonly now: number; readonly lateMs: number }, counts: Counts): Promise<void>;
  /** Whether enough late steps were found to decide whether the system is behind. */
  areMany(): boolean;
  /** Judges expiries together: if very many steps are late, the system is behind, and their agents are not to blame. */
  judge(counts: Counts): Promise<void>;
}

/** A late order and the time when it was found, because the clock may be set back before it is judged. */
interface Late {
  readonly head: StateHead;
  readonly foundAt: number;
}

/** The number of late steps after which they are judged. This many show whether the system is behind. */
const judgedMax = 100;

export function createLateSteps({ outages, actions, backlog, clock, telemetry, peopleFor }: LateStepsOptions): LateSteps {
  const late: Late[] = [];
  /** Id of the last alert about each backlog. */
  const alerted = new Map<string, string>();
  /** Agents for which this pass has let one order probe the service. */
  const probed = new Set<string>();

  async function postpone(head: StateHead, outage: Outage, counts: Counts): Promise<void> {
    const decision = judgeOutage(head, outage, { now: clock.now(), isProbed: probed.has(outage.record.agent) });
    if (decision.kind === 'postpone' && decision.probes !== undefined) probed.add(decision.probes);
    await actions.act(head, decision, counts);
  }

  async function judgeOne({ head, foundAt }: Late, counts: Counts): Promise<void> {
    const behind = await backlog.behindWith(head, waitingSinceOf(head));
    if (!behind) return void (await actions.act(head, judgeExpiry(head, foundAt, peopleFor?.(head.workflow)), counts));
    const isAnnounced = (alertId: string): boolean => alerted.get(behind.source) === alertId;
    const decision = judgeBacklog(head, behind, { now: clock.now(), isAnnounced });
    const announces = decision.kind === 'postpone' ? decision.announces : undefined;
    // Orders of the same pass must not repeat the alert.
    if (announces) alerted.set(announces.source, announces.alertId);
    const isWritten = await actions.act(head, decision, counts);
    if (announces && !isWritten) alerted.delete(announces.source);
  }

  return {
    begin() {
      probed.clear();
      late.length = 0;
    },
    async found(head, { now, lateMs }, counts) {
      const outage = await outages.before(head, head.nextDueAt ?? now, now);
      if (outage) return postpone(head, outage, counts);
      backlog.saw(lateMs);
      late.push({ head, foundAt: now });
    },
    areMany: () => late.length >= judgedMax,
    async judge(counts) {
      await Promise.all(late.splice(0).map((one) => loggingErrors(telemetry, one.head.orderId, judgeOne(one, counts))));
    },
  };
}

/** Logs the error of one order, so that the pass continues with the others. */
export async function loggingErrors(telemetry: Telemetry, orderId: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (isFatal(error)) throw error;
    telemetry.log('warn', 'skipped order after an error', { orderId, error });
  }
}
