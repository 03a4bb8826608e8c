import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { OrderProcessing } from '../../lib/cdk.ts';
import shop from './shop.ts';

/** The deployment of the bench's shop, read from the template that CloudFormation would get. */
export interface Deployment {
  /** MiB of each function, by its name: `scheduler`, `agent-payment`. */
  readonly memoryMiB: ReadonlyMap<string, number>;
  readonly isTraced: boolean;
  readonly dataKeyReuseSeconds: number;
  /** Seconds for which one run of the supervisor keeps looking for late orders. */
  readonly supervisorRunSeconds: number;
  /** Counts resources by type: `AWS::CloudWatch::Alarm`. */
  count(type: string): number;
}

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly MemorySize?: number;
    readonly Environment?: { readonly Variables: { readonly REDRESS_ROLE: string } };
    readonly TracingConfig?: { readonly Mode: string };
    readonly KmsDataKeyReusePeriodSeconds?: number;
    readonly Targets?: readonly { readonly Input?: string }[];
  };
}

export function deploymentOf(region: string): Deployment {
  const all = resourcesIn(region);
  const of = (type: string): readonly Resource['Properties'][] => all.flatMap(({ Type, Properties }) => (Type === type ? Properties : []));
  const functions = of('AWS::Lambda::Function');
  // The inputs of the schedules. Only the supervisor's has a time for which to repeat.
  const inputs = of('AWS::Events::Rule').flatMap(({ Targets = [] }) =>
    Targets.map(({ Input = '{}' }) => JSON.parse(Input) as { repeatForMs?: number }),
  );
  return {
    // REDRESS_ROLE is the name of the function.
    memoryMiB: new Map(functions.map(({ Environment, MemorySize = 128 }) => [Environment?.Variables.REDRESS_ROLE ?? '', MemorySize])),
    isTraced: functions.some(({ TracingConfig }) => TracingConfig?.Mode === 'Active'),
    dataKeyReuseSeconds: of('AWS::SQS::Queue')[0]?.KmsDataKeyReusePeriodSeconds ?? 300,
    supervisorRunSeconds: Math.max(0, ...inputs.map(({ repeatForMs = 0 }) => repeatForMs / 1000)),
    count: (type) => of(type).length,
  };
}

function resourcesIn(region: string): readonly Resource[] {
  const outdir = mkdtempSync(join(tmpdir(), 'redress-template-'));
  const stack = new Stack(new App({ outdir }), 'Bench', { env: { account: '123456789012', region } });
  new OrderProcessing(stack, 'Orders', { app: shop, entry: fileURLToPath(new URL('shop.ts', import.meta.url)) });
  const { Resources } = Template.fromStack(stack).toJSON() as { readonly Resources: { readonly [id: string]: Resource } };
  rmSync(outdir, { recursive: true });
  return Object.values(Resources);
}
