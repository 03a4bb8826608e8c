import { readFileSync } from 'node:fs';
import { CfnResource, type IPolicyValidationPlugin, Stack, Stage, Validations } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';
import { environmentSizes } from './environments.ts';
import { nameLimits } from './names.ts';
import { observability } from './observability.ts';
import { policySizes } from './policies.ts';
import { ruleReferences } from './references.ts';
import { sharedNames } from './sharing.ts';
import { silenceAlarms } from './silence.ts';
import type { Rule, Template, Violation } from './template.ts';

const rules: readonly Rule[] = [policySizes, environmentSizes, nameLimits, ruleReferences, sharedNames, silenceAlarms, observability];

/**
 * Reads a template as CloudFormation, IAM and Lambda do, and returns what they would refuse, or what would not work afterwards.
 * Emulators of AWS accept such a template.
 */
export const violationsIn = (template: Template): readonly Violation[] => rules.flatMap((rule) => rule(template));

type Report = ReturnType<IPolicyValidationPlugin['validate']>;

const watched = new WeakMap<IConstruct, Construct[]>();

/** Lets the synthesis fail if AWS would refuse a resource of this construct. Resources outside of the construct are not judged. */
export function watchTemplate(system: Construct): void {
  const stage = Stage.of(system);
  if (!stage) return;
  const systems = watched.get(stage);
  if (systems) return void systems.push(system);
  const all = [system];
  watched.set(stage, all);
  Validations.of(stage).addPlugins({
    name: 'redress',
    validate: ({ stackTemplates }): Report => {
      const violations = stackTemplates.flatMap(({ stackConstructPath, templatePath }) => {
        const own = new Set(all.filter((each) => Stack.of(each).node.path === stackConstructPath).flatMap(logicalIdsIn));
        if (own.size === 0) return [];
        const template = JSON.parse(readFileSync(templatePath, 'utf8')) as Template;
        return violationsIn(template)
          .filter(({ resource }) => own.has(resource))
          .map(({ rule, resource, property, problem, remedy }) => ({
            ruleName: rule,
            description: problem,
            fix: remedy,
            violatingResources: [{ resourceLogicalId: resource, templatePath, locations: [`Properties/${property}`] }],
          }));
      });
      return { success: violations.length === 0, violations };
    },
  });
}

const logicalIdsIn = (system: Construct): readonly string[] =>
  system.node.findAll().flatMap((each) => (CfnResource.isCfnResource(each) ? [Stack.of(each).resolve(each.logicalId) as string] : []));
