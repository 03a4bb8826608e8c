import { metricNamespace } from '#ports/telemetry';
import { everyObject } from './deployed-text.ts';
import { listIn, objectIn, type Properties, type Rule, resourcesOf, type Violation } from './template.ts';

/** Finds what two deployments in one account, or in two regions, would share by mistake. */
export const sharedNames: Rule = (template) => [
  ...resourcesOf(template, 'AWS::CloudWatch::Dashboard').flatMap(([resource, { DashboardName }]) =>
    JSON.stringify(DashboardName ?? '').match(/AWS::Region|[a-z]{2}-[a-z]+-\d/)
      ? []
      : [
          {
            rule: 'GlobalName',
            resource,
            property: 'DashboardName',
            problem: 'Names of dashboards are global. The same deployment in a second region would fail.',
            remedy: 'Put the region into the name of the dashboard.',
          },
        ],
  ),
  ...resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([resource, properties]) =>
    metricsOf(properties).every(isOfOneDeployment)
      ? []
      : [
          {
            rule: 'SharedMetric',
            resource,
            property: 'Dimensions',
            problem: `The alarm's metric in the namespace ${metricNamespace} has no dimension "deployment", so it counts other deployments of the account, too.`,
            remedy: 'Use the metrics of OrderProcessing: metrics.counted(…).',
          } satisfies Violation,
        ],
  ),
];

/** Returns the metrics of an alarm: its own, or those of its expression. */
function metricsOf(alarm: Properties): readonly Properties[] {
  const found: Properties[] = [];
  everyObject(alarm, (object) => {
    if (object['Namespace'] !== undefined) found.push(object);
  });
  return found;
}

const isOfOneDeployment = ({ Namespace, Dimensions }: Properties): boolean =>
  Namespace !== metricNamespace || listIn(Dimensions).some((each) => objectIn(each)['Name'] === 'deployment');
