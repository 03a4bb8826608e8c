import { listIn, objectIn, type Rule, resourcesOf, type Violation } from './template.ts';

/** The parts of a release that an update of its deployments depends on. */
export interface Released {
  readonly version: string;
  /** The indexes of the table: name, partition key and sort key. */
  readonly indexes: readonly string[];
}

/**
 * Finds a table whose indexes differ from those of a release by more than one index. DynamoDB creates or deletes one index at a time, so
 * CloudFormation refuses such an update of a deployment. A new deployment may have all its indexes from the start.
 */
export const indexUpdates =
  (released: Released | null): Rule =>
  (template) =>
    resourcesOf(template, 'AWS::DynamoDB::GlobalTable').flatMap(([resource, { GlobalSecondaryIndexes }]): Violation[] => {
      const indexes = listIn(GlobalSecondaryIndexes).map(textOf);
      const changes = [
        ...indexes.filter((each) => !released?.indexes.includes(each)).map((each) => `creates ${each}`),
        ...(released?.indexes ?? []).filter((each) => !indexes.includes(each)).map((each) => `deletes ${each}`),
      ];
      if (released === null || changes.length <= 1) return [];
      return [
        {
          rule: 'IndexUpdates',
          resource,
          property: 'GlobalSecondaryIndexes',
          problem: `An update from ${released.version} ${changes.join(', and ')}. DynamoDB creates or deletes only one index for each update.`,
          remedy:
            'Change one index in this release and the next one in the release after it. Keys of an index never change: give the index a new name.',
        },
      ];
    });

/** Returns an index as `Released` lists it: `by-day dayShard listedAt`. */
const textOf = (index: unknown): string => {
  const { IndexName, KeySchema } = objectIn(index);
  return [IndexName, ...listIn(KeySchema).map((key) => objectIn(key)['AttributeName'])].join(' ');
};
