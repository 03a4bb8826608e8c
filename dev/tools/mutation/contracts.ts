import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../run.ts';
import { percent } from './simulation/page.ts';
import { makePlan, shuffled } from './simulation/plan.ts';

/** Code that no world runs, and the tests that cover it. */
const about: { readonly [file: string]: readonly string[] } = {
  'lib/adapters/sqlite/queues.ts': ['test/contracts/embedded.mutants.ts'],
  'lib/adapters/sqlite/messages.ts': ['test/contracts/embedded.mutants.ts'],
  'lib/adapters/sqlite/waiters.ts': ['test/contracts/embedded.mutants.ts'],
  'lib/adapters/sqlite/polling.ts': ['test/contracts/embedded.mutants.ts'],
  'lib/adapters/sqlite/event-bus.ts': ['test/contracts/embedded.mutants.ts'],
  'lib/adapters/sqlite/database.ts': ['test/contracts/database.test.ts'],
  'lib/adapters/sqlite/connection.ts': ['test/contracts/database.test.ts'],
  'lib/adapters/sqlite/data-file.ts': ['test/contracts/database.test.ts'],
  'lib/adapters/sqlite/group-commit.ts': ['test/contracts/database.test.ts'],
};
const hook = fileURLToPath(new URL('contracts-hook.ts', import.meta.url));
const patienceMs = 240_000;

/** Counts the changes of these files that the contracts of the ports notice. Each change gets a process of its own. */
export async function mutateUnderContracts(args: readonly string[]): Promise<void> {
  const options = {
    contracts: { type: 'boolean' },
    sample: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  } as const;
  const { sample, seed } = parseArgs({ args: [...args], options }).values;
  const plan = await makePlan();
  const wanted = shuffled(
    plan.mutants.filter(({ file }) => about[file]),
    Number(seed),
  ).slice(0, Number(sample));
  for (const [file, tests] of Object.entries(about))
    if (!(await passes(tests, ''))) throw new Error(`The tests of ${file} fail without any change.`);
  const caught = new Map<string, number>();
  const all = new Map<string, number>();
  for (const { id, file, line, original, replacement } of wanted) {
    all.set(file, (all.get(file) ?? 0) + 1);
    if (await passes(about[file] ?? [], id)) process.stdout.write(`${file} ${line}: ${original} -> ${replacement}\n`);
    else caught.set(file, (caught.get(file) ?? 0) + 1);
  }
  for (const [file, count] of all)
    process.stdout.write(`| \`${file}\` | ${caught.get(file) ?? 0} of ${count} | ${percent((caught.get(file) ?? 0) / count)} |\n`);
}

async function passes(files: readonly string[], mutant: string): Promise<boolean> {
  for (const file of files) if ((await exitCode(file, mutant)) !== 0) return false;
  return true;
}

function exitCode(file: string, mutant: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const flags = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', '--import', hook];
  const child = spawn(process.execPath, [...flags, file], { cwd: root, stdio: 'ignore', env: { ...process.env, MUTANT: mutant } });
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  child.once('exit', (code) => {
    clearTimeout(timer);
    resolve(code ?? 1);
  });
  return promise;
}
