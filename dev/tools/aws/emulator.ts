import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { isLoopback } from '#api/loopback';

/** An emulator of AWS on this machine, which accepts a `cdk deploy` and forgets everything when it stops. */
export interface AwsEmulator {
  readonly name: 'ministack' | 'localstack';
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Variables with which SDKs and the CDK find an emulator. They override those of this process, and hide the AWS account of the user. */
export const environmentAt = (endpoint: string, region: string): NodeJS.ProcessEnv => ({
  ...cleared(),
  AWS_ENDPOINT_URL: endpoint,
  // The CDK's own S3 client reads this variable for its assets.
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
});

/**
 * Removes profiles, endpoints of single services and settings such as AWS_IGNORE_CONFIGURED_ENDPOINT_URLS, because they would
 * bypass the emulator.
 */
const cleared = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => name.startsWith('AWS_'))
      .map((name) => [name, undefined]),
  );

/** The emulators run functions with the first `node` on the path, which must be this one. */
export const pathWithThisNode = (): string => `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;

/** Recognizes the emulator at an address. ministack also answers at LocalStack's address, so it is tried first. */
export async function emulatorAt(endpoint: string): Promise<AwsEmulator['name'] | undefined> {
  for (const name of ['ministack', 'localstack'] as const) {
    const response = await fetch(`${endpoint}/_${name}/health`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
    if (response?.ok) return name;
  }
  return undefined;
}

/** The file to which `npm run deploy:local` writes the outputs of the stack. */
export const localOutputs = 'cdk.out/outputs-local.json';

/** Returns a loopback endpoint with a numeric address, because S3 clients put the bucket before a host name. Undefined for others. */
export function loopbackEndpoint(given: string | undefined): string | undefined {
  const url = given && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' || !isLoopback(url.hostname)) return undefined;
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  return url.origin;
}

export const freePort = (): Promise<number> => listenOnce(0);

/** Refuses a port in use: the emulator there might answer for the one that is to be started. */
export async function mustBeFree(port: number): Promise<void> {
  await listenOnce(port).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Port ${port} can't be used for an emulator (${error.code}). Set PORT to a free one, or leave PORT out.`);
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
