import { listIn, objectIn, type Rule, resourcesOf, type Template } from './template.ts';

/** Finds alarms about silence that would fire between two runs of the scheduled function that they watch. */
export const silenceAlarms: Rule = (template) =>
  resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([resource, { TreatMissingData, Dimensions, Period, EvaluationPeriods }]) => {
    if (TreatMissingData !== 'breaching') return [];
    const role = listIn(Dimensions)
      .map(objectIn)
      .find(({ Name }) => Name === 'role')?.['Value'];
    const everySeconds = scheduleOf(template, role);
    const covered = Number(Period) * Number(EvaluationPeriods);
    // One start may be lost or late, so the alarm must cover two intervals.
    if (everySeconds === undefined || covered >= 2 * everySeconds) return [];
    return [
      {
        rule: 'AlarmBetweenRuns',
        resource,
        property: 'Period',
        problem: `The alarm fires after ${covered} s without a run, but ${role} starts every ${everySeconds} s.`,
        remedy: 'Give the alarm a period of at least the interval of the schedule.',
      },
    ];
  });

/** Returns the interval in seconds in which a role's function is started; undefined without a schedule. */
function scheduleOf(template: Template, role: unknown): number | undefined {
  const ids = resourcesOf(template, 'AWS::Lambda::Function').flatMap(([id, { Environment }]) =>
    objectIn(objectIn(Environment)['Variables'])['REDRESS_ROLE'] === role ? [id] : [],
  );
  const intervals = resourcesOf(template, 'AWS::Events::Rule').flatMap(([, { ScheduleExpression, Targets }]) =>
    ids.some((id) => JSON.stringify(Targets ?? []).includes(`"${id}"`)) ? [secondsOf(String(ScheduleExpression))] : [],
  );
  return intervals.length === 0 ? undefined : Math.min(...intervals);
}

const units: { readonly [unit: string]: number } = { minute: 60, hour: 3600, day: 86_400 };

function secondsOf(rate: string): number {
  const [, count = '0', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(rate) ?? [];
  return Number(count) * (units[unit] ?? 0);
}
