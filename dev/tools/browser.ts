import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/**
 * Starts Chromium without a window. CHROMIUM_PATH names another one than that of the package. `closesPages`: its pages have processes of
 * their own, so that the end of a page does not end the browser.
 */
export async function openBrowser({ closesPages = false } = {}): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());
  const args = closesPages ? chromium.args.filter((arg) => arg !== '--single-process') : chromium.args;
  return playwright.launch({ executablePath, args, headless: true });
}
