import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Token } from 'aws-cdk-lib';
import { SetupError } from '#ports/errors';

/** Variables of a function; what only CloudFormation will know is a token of the CDK. */
export interface FunctionEnvironment {
  readonly [name: string]: string;
}

const loadMsMax = 60_000;
/** Several stacks of one program share their bundles. */
const loaded = new Set<string>();

/**
 * Loads a bundle in a process of its own, as Lambda does: a function that does not start is found here and not after the
 * deployment. The system's own variables are left out, so that loading ends there and nothing is called.
 *
 * @throws SetupError with what the bundle threw.
 */
export function checkThatItLoads(folder: string, entry: string, environment: FunctionEnvironment, withinMs: number = loadMsMax): void {
  const ofTheApp = Object.entries(environment).filter(([name]) => !name.startsWith('REDRESS_'));
  const known = ofTheApp.filter(([, value]) => !Token.isUnresolved(value));
  const isComplete = known.length === ofTheApp.length;
  const checked = `${folder} ${JSON.stringify(known)}`;
  if (loaded.has(checked)) return;
  const { stdout, error } = spawnSync(process.execPath, ['--input-type=module', '-e', program(join(folder, 'index.mjs'))], {
    env: { ...Object.fromEntries(known), AWS_REGION: 'us-east-1', REDRESS_ROLE: 'load-check' },
    timeout: withinMs,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });
  const isLate = (error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT';
  if (error && !isLate) throw error;
  const [, thrown] = stdout.match(/\nREDRESS-LOAD (.*)\n$/) ?? [];
  if (thrown === '') return void loaded.add(checked);
  // An app may need a variable while it is loaded that nobody knows yet. No variable mends a syntax error.
  if (!isComplete && !thrown?.startsWith('SyntaxError')) return;
  throw new SetupError(
    `The app ${entry} does not load in Lambda: ${thrown ?? (isLate ? `it was still loading after ${withinMs / 1000} s` : 'the process ended before it was loaded')}.`,
    'Load it with `node` from its bundle: what it imports must work in one file, and it may need variables (`agentEnvironment`).',
  );
}

const program = (file: string): string => `
  const outcome = await import(${JSON.stringify(pathToFileURL(file).href)}).then(
    () => '',
    (error) => String(error?.message).startsWith('The configuration for AWS is wrong') ? '' : String(error).replaceAll('\\n', ' ').slice(0, 500),
  );
  process.stdout.write('\\nREDRESS-LOAD ' + outcome + '\\n', () => process.exit(0));
`;
