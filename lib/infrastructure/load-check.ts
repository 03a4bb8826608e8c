import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Token } from 'aws-cdk-lib';
import { SetupError } from '#ports/errors';

/** Environment variables of a function. A value that only CloudFormation knows is a CDK token. */
export interface FunctionEnvironment {
  readonly [name: string]: string;
}

const loadMsMax = 60_000;
/** Checked bundles: several stacks of one CDK app share them. */
const loaded = new Set<string>();

/**
 * Before a deployment, loads a bundle in a separate process, as Lambda does, to find a function that would not start. The bundle gets
 * the app's variables and, of the system's variables, only the role. So it stops with "Invalid configuration for AWS" before any call to
 * AWS. That error means that the bundle itself loads.
 *
 * @throws SetupError with the error of the bundle.
 */
export function checkThatItLoads(folder: string, entry: string, environment: FunctionEnvironment, withinMs: number = loadMsMax): void {
  const ofTheApp = Object.entries(environment).filter(([name]) => !name.startsWith('REDRESS_'));
  const known = ofTheApp.filter(([, value]) => !Token.isUnresolved(value));
  const isComplete = known.length === ofTheApp.length;
  const checked = `${folder} ${JSON.stringify(known)}`;
  if (loaded.has(checked)) return;
  const { stdout, error } = spawnSync(process.execPath, ['--input-type=module', '-e', scriptFor(join(folder, 'index.mjs'))], {
    env: { ...Object.fromEntries(known), AWS_REGION: 'us-east-1', REDRESS_ROLE: 'load-check' },
    timeout: withinMs,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });
  const isLate = (error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT';
  if (error && !isLate) throw error;
  const [, thrown] = stdout.match(/\nREDRESS-LOAD (.*)\n$/) ?? [];
  if (thrown === '') return void loaded.add(checked);
  // The app may need a variable that is unknown before the deployment. A syntax error does not depend on variables.
  if (!isComplete && !thrown?.startsWith('SyntaxError')) return;
  throw new SetupError(
    `The app ${entry} does not load in Lambda: ${thrown ?? (isLate ? `it did not finish loading within ${withinMs / 1000} s` : 'the process ended before it was loaded')}.`,
    'Check that its imports work in a single bundled file, and that `agentEnvironment` has the variables it needs.',
  );
}

const scriptFor = (file: string): string => `
  const outcome = await import(${JSON.stringify(pathToFileURL(file).href)}).then(
    () => '',
    (error) => String(error?.message).startsWith('Invalid configuration for AWS') ? '' : String(error).replaceAll('\\n', ' ').slice(0, 500),
  );
  process.stdout.write('\\nREDRESS-LOAD ' + outcome + '\\n', () => process.exit(0));
`;
