import { once } from 'node:events';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isLoopback } from '#api/loopback';

/** A whole AWS on this machine, which takes a `cdk deploy` and forgets everything when it stops. */
export interface AwsEmulator {
  readonly name: 'ministack' | 'localstack';
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** What SDKs and the CDK need to find an emulator, laid over the environment of the caller, and nothing of the caller's own account. */
export const environmentAt = (endpoint: string, region: string): NodeJS.ProcessEnv => ({
  ...cleared(),
  AWS_ENDPOINT_URL: endpoint,
  // The CDK's own S3 client reads this one for its assets.
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
});

/** Profiles, endpoints of single services and settings such as AWS_IGNORE_CONFIGURED_ENDPOINT_URLS would lead past the emulator. */
const cleared = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => name.startsWith('AWS_'))
      .map((name) => [name, undefined]),
  );

/** The emulators run functions with the `node` that they find: it must be this one. */
export const pathWithThisNode = (): string => `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;

export const cacheFolder = (): string => join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'redress');

/** ministack also answers where LocalStack does, so it is asked for first. */
export async function emulatorAt(endpoint: string): Promise<AwsEmulator['name'] | undefined> {
  for (const name of ['ministack', 'localstack'] as const) {
    const response = await fetch(`${endpoint}/_${name}/health`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
    if (response?.ok) return name;
  }
  return undefined;
}

/** Where `npm run deploy:local` writes down what the stack put out, in the project's folder. */
export const localOutputs = 'cdk.out/outputs-local.json';

/** The address as clients must have it: by number, because for a name S3 clients put the bucket before it. */
export function loopbackEndpoint(given: string | undefined): string | undefined {
  const url = given && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' || !isLoopback(url.hostname)) return undefined;
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  return url.origin;
}

export const freePort = (): Promise<number> => listenOnce(0);

/** An emulator on a taken port may answer for the one that was to be started: it is refused before. */
export async function mustBeFree(port: number): Promise<void> {
  await listenOnce(port).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Port ${port} can't be used for an emulator (${error.code}): give another one.`);
  });
}

async function listenOnce(port: number): Promise<number> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  await listening;
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : port;
}
