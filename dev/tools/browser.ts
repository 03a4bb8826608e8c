import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';
import { cached } from './cache.ts';
import { root } from './run.ts';

/**
 * Starts Chromium without a window. CHROMIUM_PATH names another one than that of the package. `closesPages`: its pages have processes of
 * their own, so that the end of a page does not end the browser.
 */
export async function openBrowser({ closesPages = false } = {}): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await unpackedChromium());
  const args = closesPages ? chromium.args.filter((arg) => arg !== '--single-process') : chromium.args;
  return playwright.launch({ executablePath, args, headless: true });
}

/** Returns the path of the package's Chromium. The first call on a machine unpacks it (200 MB) into the user's cache folder. */
async function unpackedChromium(): Promise<string> {
  const { devDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { devDependencies: { [name: string]: string } };
  const name = `chromium-${devDependencies['@sparticuz/chromium']}`;
  const pathIn = (folder: string): string => join(folder, 'chromium');
  return pathIn(await cached(name, (folder) => existsSync(pathIn(folder)), unpackInto));
}

/** The package unpacks into the folder for temporary files, whichever that is at the time of the call. */
async function unpackInto(folder: string): Promise<void> {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = folder;
  try {
    await chromium.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
}
