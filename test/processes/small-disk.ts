import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd, type Ending } from './support.ts';

const [mount, umount] = ['mount', 'umount'];

/** A disk of a few megabytes that a test can fill. */
export interface SmallDisk {
  /** Fills the disk up to `leave` free bytes. */
  fill(leave: number): void;
  empty(): void;
}

/** Mounts a small disk at the folder. Returns undefined if this machine does not allow that. */
export function mountSmallDisk(ending: Ending, folder: string, bytes: number): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync(mount, ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', folder], { stdio: 'ignore' });
  if (status !== 0) return undefined;
  atEnd(ending, () => spawnSync(umount, ['-l', folder], { stdio: 'ignore' }));
  const filler = join(folder, 'filler');
  return {
    fill(leave) {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leave)));
    },
    empty: () => rmSync(filler, { force: true }),
  };
}
