import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import { type AlarmKind, alarmKinds } from './alarm-kinds.ts';
import type { OrderProcessing } from './order-processing.ts';

/** Thresholds by the names of the alarms in `docs/operations/runbook.md`: `{ QueueBackedUp: 600 }`. */
export type AlarmThresholds = { readonly [K in keyof typeof alarmKinds]?: number };

export interface AlarmsProps {
  readonly system: OrderProcessing;
  readonly name: string;
  readonly thresholds: AlarmThresholds;
}

/** The alarms of a deployment. Every alarm notifies the operators and has an article in `docs/operations/runbook.md`. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  readonly #byId = new Map<string, Alarm>();

  constructor(scope: Construct, id: string, { system, name, thresholds }: AlarmsProps) {
    super(scope, id);
    const action = new SnsAction(system.alerts);
    const kinds = Object.entries(alarmKinds) as [keyof typeof alarmKinds, AlarmKind][];
    this.all = kinds.flatMap(([kind, { says, threshold, below = false, periods, watched }]) =>
      watched(system).map(({ id, what, metric, threshold: own }) => {
        const alarm = new Alarm(this, `${kind}-${id}`, {
          alarmName: `${name}-${kind}-${id}`,
          alarmDescription: `${what} ${says} What to do: docs/operations/runbook.md, ${kind}.`,
          metric,
          threshold: thresholds[kind] ?? own ?? threshold,
          evaluationPeriods: periods,
          comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
          // For an alarm about silence, missing data means silence too.
          treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
        });
        alarm.addAlarmAction(action);
        this.#byId.set(`${kind}-${id}`, alarm);
        return alarm;
      }),
    );
  }

  /** Returns the alarm of a kind about a function, a queue or the system, in a list; the list is empty if there is none. */
  of(kind: keyof typeof alarmKinds, id: string): readonly Alarm[] {
    const found = this.#byId.get(`${kind}-${id}`);
    return found ? [found] : [];
  }
}
