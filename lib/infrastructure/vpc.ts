import { type ISecurityGroup, type IVpc, SecurityGroup, type SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type FunctionSpec, runsAppCode } from '#runtime/topology';

/** The network of functions. The functions still call AWS, so the network needs a NAT gateway, or endpoints of the services. */
export interface VpcSettings {
  readonly vpc: IVpc;
  /** Default: the private subnets with a way out. */
  readonly subnets?: SubnetSelection;
  /** Default: a new one, which allows every connection outward and none inward. */
  readonly securityGroups?: readonly ISecurityGroup[];
  /** The functions in the network: those of agents and consumers, which call remote services, or all. Default: `agents`. */
  readonly functions?: 'agents' | 'all';
}

export type FunctionNetwork = Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;

/** Returns for each function the network in which it runs; undefined for a function outside. All functions share one security group. */
export function networkFor(scope: Construct, settings: VpcSettings | undefined): (spec: FunctionSpec) => FunctionNetwork | undefined {
  if (!settings) return () => undefined;
  const { vpc, subnets, securityGroups, functions = 'agents' } = settings;
  const groups = securityGroups ?? [new SecurityGroup(scope, 'SecurityGroup', { vpc, description: 'Functions of Redress' })];
  const network = { vpc, securityGroups: [...groups], ...(subnets ? { vpcSubnets: subnets } : {}) };
  return ({ file }) => (functions === 'all' || runsAppCode({ file }) ? network : undefined);
}

const interfaceActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * Lambda itself creates network interfaces with the function's role. The code of the function must not, so its calls are denied: only
 * calls of the code carry the condition key `lambda:SourceFunctionArn`.
 */
export const networkStatements = (): readonly PolicyStatement[] => [
  new PolicyStatement({ actions: interfaceActions, resources: ['*'] }),
  new PolicyStatement({
    effect: Effect.DENY,
    actions: interfaceActions,
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  }),
];
