/**
 * `sh bin/run dev/tools/deployed-check.ts [SERVER ...] [TEST.ts ...]` deploys the stack to servers that speak AWS's protocols, runs the
 * tests of `test/deployed`, and destroys the stack. One of those tests updates the stack while orders run. The tests of
 * `test/deployed/by-hand` take too long for every run: they run only if they are named. Prints one line of JSON for each server.
 */
import { readFileSync } from 'node:fs';
import { type AwsEmulator, environmentAt, freePort, localOutputs } from './aws/emulator.ts';
import { leftovers } from './aws/leftovers.ts';
import { localStackFolder, startLocalStack } from './aws/localstack.ts';
import { startMinistack } from './aws/ministack.ts';
import { root, run } from './run.ts';

const starters: { readonly [name: string]: (options: { port: number }) => Promise<AwsEmulator | undefined> } = {
  ministack: startMinistack,
  localstack: startLocalStack,
};
const files = process.argv.slice(2).filter((argument) => argument.endsWith('.ts'));
const wanted = process.argv.slice(2).filter((argument) => !files.includes(argument));
const names = wanted.length > 0 ? wanted : Object.keys(starters);
let failed = false;

// All servers start at once: the later ones install while the first one is tested.
const starting = names.map((name) => ({ name, server: started(name) }));
for (const { name, server } of starting) {
  const emulator = await server;
  // The reason of a failure must be the last output, so the check stops here.
  if (failed) {
    if (emulator && !(emulator instanceof Error)) await emulator.stop();
  } else if (emulator instanceof Error) {
    process.stderr.write(`NOT TRIED on ${name}: ${emulator.message}\n`);
    failed = true;
  } else if (!emulator) {
    process.stderr.write(
      `NOT TRIED on ${name}: there is nothing to start it with in ${localStackFolder()} (REDRESS_LOCALSTACK names another folder).\n`,
    );
    failed ||= wanted.includes(name);
  } else
    try {
      failed = !(await check(emulator)) || failed;
    } finally {
      await emulator.stop();
    }
}
process.exitCode = failed ? 1 : 0;

async function started(name: string): Promise<AwsEmulator | Error | undefined> {
  try {
    return await starters[name]?.({ port: await freePort() });
  } catch (error) {
    return error as Error;
  }
}

async function check({ name, endpoint }: AwsEmulator): Promise<boolean> {
  const ports = { SHOP_PORT: String(await freePort()), SIGN_IN_PORT: String(await freePort()) };
  const env = { ...environmentAt(endpoint, 'us-east-1'), REDRESS_DATA: `${root}cdk.out/data-${name}`, ...ports };
  const seconds: { [step: string]: number } = {};
  const step = async (title: string, [program, ...args]: readonly [string, ...string[]], quiet = false): Promise<boolean> => {
    const startedAt = performance.now();
    const options = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'];
    const code = await run(process.execPath, [...options, program, ...args], { env, quiet });
    seconds[title] = Math.round((performance.now() - startedAt) / 1000);
    return code === 0;
  };
  const deployed = await step('deploy', ['dev/tools/deploy-local.ts']);
  const tested = deployed && (await step('test', ['dev/tools/test-deployed.ts', ...files]));
  const table = deployed ? outputOf('TableName') : '';
  // Quiet, because the failures of the tests must be the last output.
  const destroyed = deployed && (await step('destroy', ['dev/tools/deploy-local.ts', 'destroy'], true));
  const left = await leftovers(endpoint);
  // The stack keeps its table, because orders outlive the stack. The store contract in `test/deployed` leaves tables named `redress-…`.
  const clean = left.tables.every((name) => name === table || name.startsWith('redress-')) && left.others.length === 0;
  process.stdout.write(`${JSON.stringify({ server: name, deployed, tested, destroyed, left, seconds })}\n`);
  return deployed && tested && destroyed && clean;
}

function outputOf(name: string): string {
  const [outputs] = Object.values(
    JSON.parse(readFileSync(`${root}${localOutputs}`, 'utf8')) as { [stack: string]: { [name: string]: string } },
  );
  return outputs?.[name] ?? '';
}
