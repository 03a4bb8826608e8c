import { execFileSync } from 'node:child_process';
import { root } from './run.ts';

let loaded: string | undefined;

/** The commit of the code that this process runs: another one may be checked out meanwhile, and a copy of the files has none. */
export function commitLoaded(): string {
  try {
    return (loaded ??= commit());
  } catch {
    return (loaded = 'no commit');
  }
}

/** The commit that is checked out, with `+changes` where files differ from it; the reports of soaks are none of what is tried. */
export function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root }).toString().trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '.', ':!docs/internals/soak') === '' ? '' : '+changes');
}
