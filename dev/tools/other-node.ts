import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { root, run } from './run.ts';

const folder = `${root}dev/tools/other-node/`;
const versions = ['node-22', 'node-26'];

/** Another version of Node than the one that runs this. */
export interface OtherNode {
  /** `v22.23.3`. */
  readonly name: string;
  readonly execPath: string;
  readonly execArgv: readonly string[];
}

const timeOf = (file: string): number => (existsSync(file) ? statSync(file).mtimeMs : 0);

/**
 * Returns the versions that are there, after installing them if `install` is set. The list is empty if npm has none for this
 * machine.
 */
export async function otherNodes({ install }: { readonly install: boolean }): Promise<readonly OtherNode[]> {
  const isThere = timeOf(`${folder}node_modules/.package-lock.json`) >= timeOf(`${folder}package-lock.json`);
  if (install && !isThere) await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], { cwd: folder });
  const paths = versions.map((version) => `${folder}node_modules/${version}/bin/node`).filter(existsSync);
  return paths.map((execPath) => ({
    name: execFileSync(execPath, ['--version'], { encoding: 'utf8' }).trim(),
    execPath,
    execArgv: ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'],
  }));
}
