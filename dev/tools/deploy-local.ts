import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { openLocalIssuer } from '#api/local-issuer';
import { type AwsEmulator, emulatorAt, environmentAt, localOutputs, loopbackEndpoint } from './aws/emulator.ts';
import { shopEnvironment } from './aws/shop.ts';
import { consoleClient } from './aws/sign-in.ts';
import { installed, root, run } from './run.ts';

/**
 * `npm run deploy:local [-- destroy|diff|...] [options of cdk]` deploys the app of cdk.json to the emulator at
 * AWS_ENDPOINT_URL, after preparing that emulator. It writes the stack's outputs to cdk.out/outputs-local.json.
 */
const outputsFile = `${root}${localOutputs}`;
const assembly = `${root}cdk.out/local`;
const offline = { CDK_DISABLE_VERSION_CHECK: 'true', CDK_DISABLE_CLI_TELEMETRY: 'true' };
const account = '000000000000';

const endpoint = loopbackEndpoint(process.env['AWS_ENDPOINT_URL']);
const emulator = endpoint && (await emulatorAt(endpoint));
if (!endpoint || !emulator) {
  const trouble = endpoint
    ? `No emulator answers at AWS_ENDPOINT_URL=${endpoint}.`
    : `AWS_ENDPOINT_URL is ${process.env['AWS_ENDPOINT_URL'] || 'not set'}: this deploys to an emulator on this machine only, never to AWS.`;
  process.stderr.write(`${trouble}\nStart one with \`npm run emulator\` and set AWS_ENDPOINT_URL to the address it prints.\n`);
  process.exit(2);
}
process.exitCode = await deployTo(endpoint, emulator);

async function deployTo(endpoint: string, emulator: AwsEmulator['name']): Promise<number> {
  const region = process.env['AWS_REGION'] || 'us-east-1';
  const env = { ...environmentAt(endpoint, region), ...offline, ...servicesHere() };
  const cdk = (args: readonly string[]) => run(installed('cdk'), [...args, '--no-notices'], { env });
  const [first, ...rest] = process.argv.slice(2);
  const [command, options] = first === undefined || first.startsWith('-') ? ['deploy', process.argv.slice(2)] : [first, rest];
  const app = [
    '--output',
    assembly,
    '-c',
    'mathAlarms=off',
    '-c',
    'termination=off',
    ...issuerOf(process.env['REDRESS_DATA'] || '.redress', options),
  ];

  if (command !== 'deploy') return cdk([command, ...app, ...(command === 'destroy' ? ['--force'] : []), ...options]);
  process.stdout.write(`Preparing ${emulator} at ${endpoint}\n`);
  const prepared = await cdk(['bootstrap', `aws://${account}/${region}`]);
  if (prepared !== 0) return prepared;
  process.stdout.write(`Deploying to ${emulator}\n`);
  mkdirSync(assembly, { recursive: true });
  const deployed = await cdk(['deploy', '--require-approval', 'never', ...app, '--outputs-file', outputsFile, ...options]);
  if (deployed === 0) writeOutputs(endpoint, emulator);
  return deployed;
}

/** Emulators have no user pool that signs tokens. This machine signs them, so that `npx redress token` works for the deployment. */
function issuerOf(dataFolder: string, options: readonly string[]): readonly string[] {
  if (options.some((option) => option.startsWith('issuer='))) return [];
  const { issuer, audience, keys } = openLocalIssuer(dataFolder);
  return [
    '-c',
    `issuer=${issuer}`,
    '-c',
    `audience=${audience}`,
    '-c',
    `issuerKeys=${JSON.stringify(keys)}`,
    '-c',
    `signIn=${JSON.stringify(consoleClient)}`,
  ];
}

/** Without explicit addresses, the agents use the sample shop, which `npm run test:deployed` starts. */
function servicesHere(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(shopEnvironment).filter(([name]) => !process.env[name]));
}

function writeOutputs(endpoint: string, emulator: AwsEmulator['name']): void {
  const outputs = reachable(JSON.parse(readFileSync(outputsFile, 'utf8')) as Outputs, endpoint, emulator);
  writeFileSync(outputsFile, `${JSON.stringify(outputs, null, 2)}\n`);
  const urls = Object.values(outputs).flatMap(({ ApiUrl }) => ApiUrl ?? []);
  process.stdout.write(`Outputs are in ${outputsFile}. The API answers at ${urls.join(', ')}\n`);
}

type Outputs = { readonly [stack: string]: { readonly [name: string]: string } };

/** Replaces the host name of an API, which does not resolve, by a path at the emulator. Both emulators answer there, too. */
function reachable(outputs: Outputs, endpoint: string, emulator: AwsEmulator['name']): Outputs {
  const pathOf = (id: string): string => (emulator === 'ministack' ? `_aws/execute-api/${id}/$default` : `_aws/execute-api-http/${id}`);
  const addressOf = (value: string): string => {
    const [, id] = /^https?:\/\/(\w+)\.execute-api\./.exec(value) ?? [];
    return id ? `${endpoint}/${pathOf(id)}` : value;
  };
  const changed = (values: Outputs[string]) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, addressOf(value)]));
  return Object.fromEntries(Object.entries(outputs).map(([stack, values]) => [stack, changed(values)]));
}
