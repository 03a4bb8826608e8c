import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { OrderProcessing } from '#infrastructure/order-processing';
import type { OrderProcessingProps } from '#infrastructure/order-processing-props';
import { OrderStack } from '#infrastructure/stack';
import orders from './app.ts';

export const entry = fileURLToPath(new URL('./app.ts', import.meta.url));
export const region = 'eu-central-1';

export interface Resource {
  readonly Type: string;
  readonly Properties: { readonly [name: string]: unknown };
  readonly DeletionPolicy?: string;
}
export type Resources = { readonly [logicalId: string]: Resource };

/** One finding of cdk-nag. */
export interface Finding {
  readonly ruleName: string;
  readonly violatingConstructs: readonly { readonly constructPath: string }[];
  /** Present only if the finding was acknowledged. */
  readonly reason?: string;
}

export interface Synthesized {
  readonly orders: OrderProcessing;
  readonly template: Template;
  readonly resources: Resources;
  readonly outputs: { readonly [name: string]: { readonly Value: unknown } };
  readonly open: readonly Finding[];
  readonly acknowledged: readonly Finding[];
}

export interface SynthesizeOptions {
  readonly props?: Partial<OrderProcessingProps>;
  /** Changes the stack before its synthesis. */
  readonly change?: (stack: OrderStack) => void;
  /** Whether the stack has its code. Most tests read the template alone, and bundles take seconds. */
  readonly isBundled?: boolean;
  /** Whether cdk-nag looks at the stack, which takes a second. */
  readonly isChecked?: boolean;
}

/** The context of a synthesis. Like the command line, the app reads the report itself, so a finding does not throw. */
export const contextOf = (isBundled: boolean): { readonly [name: string]: unknown } => ({
  '@aws-cdk/core:failSynthOnValidationErrors': false,
  ...(isBundled ? {} : { 'aws:cdk:bundling-stacks': [] }),
});

/** Synthesizes the stack as `cdk synth` does, with the findings of cdk-nag. */
export function synthesize({ props = {}, change, isBundled = false, isChecked = false }: SynthesizeOptions = {}): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), 'redress-cdk-'));
  const app = new App({ outdir, analyticsReporting: false, context: contextOf(isBundled) });
  const stack = new OrderStack(app, 'Redress', { env: { region }, orders: { app: orders, entry, ...props } });
  change?.(stack);
  if (isChecked) Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  const template = app.synth().getStackByName('Redress').template as { Resources: Resources; Outputs: Synthesized['outputs'] };
  const reports = isChecked ? reportsIn(outdir) : undefined;
  rmSync(outdir, { recursive: true });
  const found = (): readonly Report[] => reports ?? assert.fail('Only a checked stack has findings.');
  return {
    orders: stack.orders,
    template: Template.fromJSON(template),
    resources: template.Resources,
    outputs: template.Outputs,
    get open() {
      return found().flatMap(({ violations }) => violations);
    },
    get acknowledged() {
      return found().flatMap(({ suppressedViolations }) => suppressedViolations);
    },
  };
}

interface Report {
  readonly violations: readonly Finding[];
  readonly suppressedViolations: readonly Finding[];
}

const reportsIn = (outdir: string): readonly Report[] =>
  (JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as { pluginReports: readonly Report[] }).pluginReports;

let plain: Synthesized | undefined;
/** Returns the stack with its defaults. */
export const defaults = (): Synthesized => (plain ??= synthesize());

/** Returns the resources of a type, by their logical ids. */
export const ofType = ({ resources }: Pick<Synthesized, 'resources'>, type: string): readonly (readonly [string, Resource])[] =>
  Object.entries(resources).filter(([, { Type }]) => Type === `AWS::${type}`);

/** Returns the only resource of its type; throws if there are several. */
export function theOne(synthesized: Pick<Synthesized, 'resources'>, type: string): Resource {
  const [first, ...others] = ofType(synthesized, type);
  if (!first || others.length > 0) throw new Error(`There are ${others.length + (first ? 1 : 0)} of ${type}.`);
  return first[1];
}

export interface LambdaProperties {
  readonly Role: { readonly 'Fn::GetAtt': readonly [string, 'Arn'] };
  readonly LoggingConfig: { readonly LogGroup: { readonly Ref: string } };
  readonly Environment: { readonly Variables: { readonly [name: string]: unknown } };
  readonly [name: string]: unknown;
}

/** Returns a function by its name in the system, such as `agent-stock`. */
export function functionOf(synthesized: Pick<Synthesized, 'resources'>, name: string): LambdaProperties {
  const found = ofType(synthesized, 'Lambda::Function').find(([, { Properties }]) => Properties['Description'] === `Redress: ${name}`);
  if (!found) throw new Error(`There is no function ${name}.`);
  return found[1].Properties as LambdaProperties;
}

export const alarmsOf = (synthesized: Pick<Synthesized, 'resources'>): readonly Resource['Properties'][] =>
  ofType(synthesized, 'CloudWatch::Alarm').map(([, { Properties }]) => Properties);
