import { deployedJson, deployedText } from './deployed-text.ts';
import { listIn, type Rule, resourcesOf, type Template, type Violation } from './template.ts';

/** IAM's quotas, in characters without white space. AWS does not raise them. */
const managedMax = 6144;
const inlineMax = 10_240;
/** IAM's default quota of managed policies for one role. */
const managedPerRoleMax = 10;

const remedy = "Use shorter names of agents, fewer agents, or agents: 'each'.";

/** Finds policies that IAM would refuse for their size. */
export const policySizes: Rule = (template) => {
  const size = (document: unknown): number => JSON.stringify(deployedJson(template, document)).replaceAll(/\s/g, '').length;
  const managed = resourcesOf(template, 'AWS::IAM::ManagedPolicy').map(([id, { PolicyDocument }]) => [id, size(PolicyDocument)] as const);
  const inline = new Map<string, number>();
  for (const [, { PolicyDocument, Roles }] of resourcesOf(template, 'AWS::IAM::Policy'))
    for (const role of rolesIn(Roles)) inline.set(role, (inline.get(role) ?? 0) + size(PolicyDocument));
  return [
    ...managed.flatMap(([id, bytes]) => tooLarge(id, bytes, managedMax, 'a managed policy')),
    ...[...inline].flatMap(([role, bytes]) => tooLarge(role, bytes, inlineMax, 'all inline policies of a role together')),
    ...tooMany(template),
  ];
};

const tooLarge = (resource: string, bytes: number, max: number, what: string): readonly Violation[] =>
  bytes <= max
    ? []
    : [
        {
          rule: 'PolicyTooLarge',
          resource,
          property: 'PolicyDocument',
          problem: `The policy would have ${bytes} characters, but IAM allows ${max} for ${what}.`,
          remedy,
        },
      ];

function tooMany(template: Template): readonly Violation[] {
  const attached = new Map<string, number>();
  for (const [, { Roles }] of resourcesOf(template, 'AWS::IAM::ManagedPolicy'))
    for (const role of rolesIn(Roles)) attached.set(role, (attached.get(role) ?? 0) + 1);
  for (const [id, { ManagedPolicyArns }] of resourcesOf(template, 'AWS::IAM::Role'))
    attached.set(id, (attached.get(id) ?? 0) + listIn(ManagedPolicyArns).length);
  return [...attached].flatMap(([resource, count]) =>
    count <= managedPerRoleMax
      ? []
      : [
          {
            rule: 'TooManyPolicies',
            resource,
            property: 'ManagedPolicyArns',
            problem: `The role would have ${count} managed policies, but IAM allows ${managedPerRoleMax}.`,
            remedy,
          },
        ],
  );
}

const rolesIn = (roles: unknown): readonly string[] =>
  listIn(roles).map((role) =>
    typeof role === 'object' && role !== null && 'Ref' in role ? String(role.Ref) : deployedText({ Resources: {} }, role),
  );
