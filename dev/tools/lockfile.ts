import { readFileSync, writeFileSync } from 'node:fs';
import { root } from './run.ts';

/**
 * `npm run lockfile`, after `npm install`, adds every platform's build of a package to the lockfile, even if the registry at
 * hand lacks it. Without them `npm ci` refuses the lockfile as incomplete, on all platforms.
 */
interface Locked {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: { [name: string]: string };
}

const path = `${root}package-lock.json`;
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: { [path: string]: Locked } };
const systems: { readonly [part: string]: string } = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  openharmony: 'openharmony',
  win32: 'win32',
  windows: 'win32',
  sunos: 'sunos',
  aix: 'aix',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
};
const processors: { readonly [part: string]: string } = {
  arm64: 'arm64',
  x64: 'x64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  loong64: 'loong64',
  mips64el: 'mips64el',
};

let added = 0;
for (const { dev, optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const parts = name.split(/[/-]/);
    const os = parts.map((part) => systems[part]).find((each) => each !== undefined);
    const cpu = parts.map((part) => processors[part]).find((each) => each !== undefined);
    if (lock.packages[`node_modules/${name}`] || !/^\d+\.\d+\.\d+/.test(version)) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(dev ? { dev } : {}),
      optional: true,
      ...(os ? { os: [os] } : {}),
      ...(cpu ? { cpu: [cpu] } : {}),
    };
    added += 1;
  }
}
const [first, ...rest] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([...(first ? [first] : []), ...rest.sort(([a], [b]) => a.localeCompare(b, 'en'))]);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} builds for other platforms named in the lockfile\n`);
