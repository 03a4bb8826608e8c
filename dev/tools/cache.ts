import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const cacheFolder = (): string => join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'redress');

/**
 * Returns a folder of the user's cache, and makes it if it is not complete. It is made under another name and then renamed, so that of
 * several processes that start at the same time none uses an incomplete folder.
 */
export async function cached(
  name: string,
  isComplete: (folder: string) => boolean,
  make: (folder: string) => void | Promise<void>,
): Promise<string> {
  const folder = join(cacheFolder(), name);
  if (isComplete(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const making = mkdtempSync(`${folder}-`);
  try {
    await make(making);
    // Another process may have made the folder meanwhile. An incomplete folder belongs to an earlier list of packages.
    if (!isComplete(folder)) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(making, folder);
    }
  } catch (error) {
    if (!isComplete(folder)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}
