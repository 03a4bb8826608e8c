import { everyObject } from './deployed-text.ts';
import { listIn, objectIn, type Properties, type Rule, resourcesOf, type Template } from './template.ts';

/** Finds what operators would not see: throttles of an index, and log lines without the id of their run. */
export const observability: Rule = (template) => [...unwatchedIndexes(template), ...plainLogs(template)];

/** The throttles of an index have a dimension of their own; the metric of the table does not include them. */
const unwatchedIndexes: Rule = (template) => {
  const indexes = new Set(
    resourcesOf(template, 'AWS::DynamoDB::GlobalTable').flatMap(([, { GlobalSecondaryIndexes }]) =>
      listIn(GlobalSecondaryIndexes).map((each) => String(objectIn(each)['IndexName'])),
    ),
  );
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([resource, properties]) => {
    const watched = throttlesIn(properties);
    if (watched.length === 0) return [];
    const missing = [...indexes].filter((index) => !watched.some(({ Dimensions }) => JSON.stringify(Dimensions).includes(`"${index}"`)));
    if (missing.length === 0) return [];
    return [
      {
        rule: 'IndexNotWatched',
        resource,
        property: 'Metrics',
        problem: `The alarm watches the throttles of the table, but not those of ${missing.join(', ')}.`,
        remedy: 'Add the metric of each index, with the dimension GlobalSecondaryIndexName.',
      },
    ];
  });
};

function throttlesIn(alarm: Properties): readonly Properties[] {
  const found: Properties[] = [];
  everyObject(alarm, (object) => {
    if (/^(Read|Write)ThrottleEvents$/.test(String(object['MetricName']))) found.push(object);
  });
  return found;
}

/** In a plain-text log, Lambda adds three lines to each run, and no line has fields. */
const plainLogs = (template: Template) =>
  resourcesOf(template, 'AWS::Lambda::Function').flatMap(([resource, { LoggingConfig }]) =>
    objectIn(LoggingConfig)['LogFormat'] === 'JSON'
      ? []
      : [
          {
            rule: 'PlainLog',
            resource,
            property: 'LoggingConfig',
            problem: 'The function logs plain text, so Lambda adds three paid lines to each run, and lines cannot be searched by field.',
            remedy: 'Set LogFormat to JSON.',
          },
        ],
  );
