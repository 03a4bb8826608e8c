import { deployedText } from './deployed-text.ts';
import { objectIn, type Rule, resourcesOf } from './template.ts';

/** Lambda's limit for all variables of a function together, in bytes of names and values. */
const environmentMax = 4096;

/** Finds functions whose environment Lambda would refuse. */
export const environmentSizes: Rule = (template) =>
  resourcesOf(template, 'AWS::Lambda::Function').flatMap(([resource, { Environment }]) => {
    const variables = Object.entries(objectIn(objectIn(Environment)['Variables'])).map(
      ([name, value]) => [name, Buffer.byteLength(deployedText(template, value)) + Buffer.byteLength(name)] as const,
    );
    const bytes = variables.reduce((sum, [, each]) => sum + each, 0);
    if (bytes <= environmentMax) return [];
    const [largest = ''] = variables.toSorted(([, one], [, other]) => other - one)[0] ?? [];
    return [
      {
        rule: 'EnvironmentTooLarge',
        resource,
        property: 'Environment',
        problem: `The variables of the function would have ${bytes} bytes, but Lambda allows ${environmentMax}. The largest one is ${largest}.`,
        remedy: 'Register app clients with PUT /clients/{id} instead of `clients`, and keep long values in Secrets Manager.',
      },
    ];
  });
