/**
 * `sh bin/run dev/tools/deployed-check.ts [SERVER ...] [TEST.ts ...]` deploys the stack to servers that speak AWS's protocols, runs the
 * tests of `test/deployed`, and destroys the stack. One of those tests updates the stack while orders run. Each test in
 * `test/deployed/examples` has a stack of its own, with the app of its example. The tests of `test/deployed/by-hand` take too long for
 * every run: they run only if they are named. Prints one line of JSON for each server.
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

// All servers start together: the later ones install while the first one is tested.
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

/** A stack with its tests. */
interface Stack {
  readonly name: string;
  /** Options of the CDK. */
  readonly options: readonly string[];
  readonly tests: readonly string[];
}

function ofExample(name: string, app: string): Stack {
  const options = [`app=${app}`, `stack=${name}`, `name=${name}`, 'removal=destroy'].flatMap((each) => ['-c', each]);
  return { name, options, tests: [`test/deployed/examples/${name}.deployed.ts`] };
}

/** Returns the stacks to deploy: all, or those of the named tests. */
function stacks(): readonly Stack[] {
  const examples = [
    ofExample('goods-receipt', 'examples/goods-receipt/app.ts'),
    ofExample('expenses', 'test/deployed/examples/expenses-app.ts'),
  ];
  const orders = { name: 'orders', options: [], tests: [] };
  if (files.length === 0) return [orders, ...examples];
  const named = examples.filter(({ tests }) => tests.some((each) => files.includes(each)));
  const others = files.filter((file) => !named.some(({ tests }) => tests.includes(file)));
  return [...(others.length > 0 ? [{ ...orders, tests: others }] : []), ...named];
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
  const tables: string[] = [];
  const passes = async ({ name, options, tests }: Stack): Promise<boolean> => {
    if (!(await step(`deploy ${name}`, ['dev/tools/deploy-local.ts', 'deploy', ...options]))) return false;
    const tested = await step(`test ${name}`, ['dev/tools/test-deployed.ts', ...tests]);
    tables.push(outputOf('TableName'));
    // Quiet, because the failures of the tests must be the last output.
    return (await step(`destroy ${name}`, ['dev/tools/deploy-local.ts', 'destroy', ...options], true)) && tested;
  };
  const failed: string[] = [];
  for (const stack of stacks()) if (failed.length === 0 && !(await passes(stack))) failed.push(stack.name);
  const left = await leftovers(endpoint);
  // The stack keeps its table, because orders outlive the stack. The store contract in `test/deployed` leaves tables named `redress-…`.
  const clean = left.tables.every((name) => name === tables[0] || name.startsWith('redress-')) && left.others.length === 0;
  process.stdout.write(`${JSON.stringify({ server: name, failed, left, seconds })}\n`);
  return failed.length === 0 && clean;
}

function outputOf(name: string): string {
  const [outputs] = Object.values(
    JSON.parse(readFileSync(`${root}${localOutputs}`, 'utf8')) as { [stack: string]: { [name: string]: string } },
  );
  return outputs?.[name] ?? '';
}
