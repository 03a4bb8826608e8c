import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { root } from './run.ts';

/**
 * `npm run lockfile [FOLDER]`, after `npm install`, adds every platform's build of a package to the lockfile with its hash, and
 * removes addresses of registries. npm leaves out builds that a registry at hand lacks; without them `npm ci` refuses the lockfile
 * as incomplete, and without their hashes it installs whatever the registry sends.
 */
interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  inBundle?: boolean;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: { [name: string]: string };
}

const path = `${root}${process.argv[2] ?? '.'}/package-lock.json`;
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: { [path: string]: Locked } };
const installedAt = 'node_modules/';

let added = 0;
for (const { dev, optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (lock.packages[installedAt + name] || !/^\d+\.\d+\.\d+/.test(version)) continue;
    lock.packages[installedAt + name] = { version, ...(dev ? { dev } : {}), optional: true, ...published(name, version) };
    added += 1;
  }
}

let hashed = 0;
for (const [at, locked] of Object.entries(lock.packages)) {
  if (locked.resolved?.startsWith('http')) delete locked.resolved;
  const [, name] = at.split(/^(?:.*\/)?node_modules\//);
  // A link is a folder of this repository. The hash of a bundle covers the packages in it.
  if (name === undefined || locked.link || locked.inBundle || locked.integrity || !locked.version) continue;
  Object.assign(locked, published(name, locked.version));
  hashed += 1;
}

const [first, ...rest] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([...(first ? [first] : []), ...rest.sort(([a], [b]) => a.localeCompare(b, 'en'))]);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} builds for other platforms added, ${hashed} hashes fetched\n`);

/** Asks the registry for the hash of a version and for its platforms. Throws if the registry does not have it. */
function published(name: string, version: string): Locked {
  const fields = ['dist.integrity', 'os', 'cpu', 'libc'];
  const text = execFileSync('npm', ['view', `${name}@${version}`, ...fields, '--json'], { cwd: root }).toString();
  const { 'dist.integrity': integrity, ...given } = JSON.parse(text) as { [field: string]: string | string[] };
  if (typeof integrity !== 'string') throw new Error(`The registry has no hash of ${name}@${version}. Use a registry that has this build.`);
  const lists = Object.entries(given).map(([field, value]) => [field, [value].flat()]);
  return { integrity, ...(Object.fromEntries(lists) as Locked) };
}
