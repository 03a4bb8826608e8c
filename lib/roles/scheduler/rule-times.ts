import { awaitsReply } from '#core/data/step-state';
import { type WorkingStep, workingSteps } from '#core/engine/lateness';
import { nextRuleTime, type Timed, timedKey } from '#core/rules/timers';
import { type Draft, patchRecord } from './draft.ts';
import type { OrderRules } from './instance.ts';
import { hasLock } from './lease.ts';
import { type Happened, stepOf } from './rule-events.ts';

/** Whether rules may be asked about times now: not while the order is suspended or locked by a person. */
export const asksAboutTimes = ({ settings: { rules }, record }: Draft): boolean =>
  rules !== undefined && !record.suspended && !hasLock(record) && timedKey(rules, record.workflow.name) !== undefined;

/** Notes since when steps are late, before they are requested again and have a later deadline. */
export function noteLate(draft: Draft): Draft {
  const { instance, now } = draft;
  const late = timedIn(draft).flatMap(({ timed: { kind, eventId, from } }) =>
    kind === 'step-late' && from <= now ? [[eventId, from] as const] : [],
  );
  if (late.every(([eventId]) => instance.rules?.lateSince?.[eventId] !== undefined)) return draft;
  return withRules(draft, { ...instance.rules, lateSince: Object.fromEntries(late) });
}

/** Returns the ages and the late steps that rules are to be asked about now. */
export function dueEvents(draft: Draft): readonly Happened[] {
  const { settings, instance, now } = draft;
  const { rules } = settings;
  if (!rules) return [];
  return timedIn(draft).flatMap(({ timed, path }): readonly Happened[] => {
    const at = nextRuleTime(rules, timed, instance.rules?.memory);
    if (at === undefined || at > now) return [];
    const { kind, eventId, from, step, agent } = timed;
    const of = { ...(step === undefined ? {} : { step }), ...(agent === undefined ? {} : { agent }) };
    const event = { id: eventId, kind, at: now, seconds: (now - from) / 1000, ...of };
    return [path === undefined ? { event } : { event, path }];
  });
}

/** Notes when rules are to be asked next about the age of the order, or about a late step. Costs nothing without such rules. */
export function noteRuleTimes(draft: Draft): Draft {
  const { settings, record, instance } = draft;
  const key = settings.rules && instance.state.phase !== 'closed' ? timedKey(settings.rules, record.workflow.name) : undefined;
  const { wakeAt: _, lateSince: __, ...others } = instance.rules ?? {};
  const known = key === undefined ? {} : timesOf(draft);
  const isSame = JSON.stringify(known) === JSON.stringify(timesIn(instance.rules));
  const noted = isSame ? draft : withRules(draft, { ...others, ...known });
  return key === undefined || record.ruleTimers === key ? noted : patchRecord(noted, { ruleTimers: key });
}

type Times = Pick<OrderRules, 'wakeAt' | 'lateSince'>;

const timesIn = ({ wakeAt, lateSince }: OrderRules = {}): Times => ({
  ...(wakeAt === undefined ? {} : { wakeAt }),
  ...(lateSince === undefined ? {} : { lateSince }),
});

function timesOf(draft: Draft): Times {
  const { settings, instance } = draft;
  const { lateSince = {} } = instance.rules ?? {};
  const timed = timedIn(draft);
  const next = timed.flatMap((each) => (settings.rules && nextRuleTime(settings.rules, each.timed, instance.rules?.memory)) ?? []);
  const late = timed.flatMap(({ timed: { eventId } }) =>
    lateSince[eventId] === undefined ? [] : [[eventId, lateSince[eventId]] as const],
  );
  return timesIn({
    ...(next.length === 0 ? {} : { wakeAt: Math.min(...next) }),
    ...(late.length === 0 ? {} : { lateSince: Object.fromEntries(late) }),
  });
}

const withRules = (draft: Draft, rules: OrderRules): Draft => {
  const { rules: _, ...instance } = draft.instance;
  return { ...draft, instance: Object.keys(rules).length === 0 ? instance : { ...instance, rules }, changed: true };
};

interface TimedActivity {
  readonly timed: Timed;
  readonly path?: string;
}

function timedIn(draft: Draft): readonly TimedActivity[] {
  const { loaded, record, instance } = draft;
  const { orderId, workflow, submittedAt } = record;
  const { state } = instance;
  const of = { orderId, workflow: workflow.name };
  const age: Timed = { ...of, kind: 'order-age', eventId: 'age', from: submittedAt };
  if (state.phase === 'closed') return [];
  const steps = state.phase === 'running' ? workingSteps(loaded.program, state).filter(isAwaited) : [];
  return [
    { timed: age },
    ...steps.map(({ path, local }) => {
      const eventId = `late:${path}:${local.generation}`;
      // A step that is requested again is late since its first deadline.
      const from = instance.rules?.lateSince?.[eventId] ?? local.completeBy;
      return { path, timed: { ...of, kind: 'step-late' as const, eventId, from, ...stepOf(loaded.program, path) } };
    }),
  ];
}

const isAwaited = ({ local, activity }: WorkingStep): boolean => awaitsReply(local) && activity.awaitsPerson !== true;
