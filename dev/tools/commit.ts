import { execFileSync } from 'node:child_process';
import { root } from './run.ts';

let loaded: string | undefined;

/** The commit of the code that this process runs. Another one may be checked out meanwhile. A copy of the files has no commit. */
export function commitLoaded(): string {
  try {
    return (loaded ??= commit());
  } catch {
    return (loaded = 'no commit');
  }
}

/** The commit that is checked out, with `+changes` if files differ from it. Reports of soaks do not count as changes. */
export function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root }).toString().trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '.', ':!docs/internals/soak') === '' ? '' : '+changes');
}
