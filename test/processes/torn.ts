import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { dataFile, type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import { SetupError, StoreUnavailableError } from '#ports/errors';
import { decodeInstance } from '#roles/scheduler/instance';
import { hurried } from './farm.ts';
import { type Ending, type Site, startNode, within, work } from './support.ts';

/** The files of a host that was killed while it processed orders. */
export interface Wreck {
  readonly folder: string;
  /** The answers in their order, each with the length of the log at that time. */
  readonly answered: readonly { readonly orderId: string; readonly logBytes: number }[];
  readonly logBytes: number;
}

export const logFile = (folder: string): string => `${dataFile(folder)}-wal`;

/** Leaves the first half of the orders in the data file, and the second half only in the log. */
export async function wreck(ending: Ending, { data, variables }: Site, orders: number): Promise<Wreck> {
  const answered: { orderId: string; logBytes: number }[] = [];
  const life = async (keys: readonly number[], end: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const node = await startNode(ending, { ...variables, ...hurried });
    for (const key of keys) {
      const orderId = await node.call('submit', `order-${key}`, work(), 'line');
      answered.push({ orderId, logBytes: end === 'SIGTERM' ? 0 : statSync(logFile(data)).size });
    }
    await within(node.kill(end), 'the node does not end');
  };
  const keys = Array.from({ length: orders }, (_, index) => index);
  await life(keys.slice(0, orders / 2), 'SIGTERM');
  await life(keys.slice(orders / 2), 'SIGKILL');
  return { folder: data, answered, logBytes: statSync(logFile(data)).size };
}

/** Copies only the files of a wreck, to be damaged further. */
export function copyOf({ folder }: Pick<Wreck, 'folder'>, to: string): string {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  copyFileSync(dataFile(folder), dataFile(to));
  copyFileSync(logFile(folder), logFile(to));
  return to;
}

/** Changes the byte at this position. */
export function flip(file: string, at: number): void {
  const byte = readFileSync(file)[at] ?? 0;
  overwrite(file, at, Uint8Array.of(byte ^ 0xff));
}

export function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

/**
 * Returns the violations in a folder whose log is complete up to this byte. Every order that was answered by then must be there and
 * readable. Later orders may be there, oldest first, and none that was never submitted.
 */
export async function problemsAfter({ answered }: Wreck, folder: string, wholeBytes: number): Promise<readonly string[]> {
  const { database, store } = openEmbedded(folder, { clock: systemClock });
  try {
    const problems: string[] = [];
    const [check] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {});
    if (check !== 'ok') problems.push(`the data file: ${check}`);
    const found = await Promise.all(answered.map(({ orderId }) => store.load(orderId)));
    const there = found.filter((each) => each !== undefined);
    if (found.slice(0, there.length).includes(undefined)) problems.push('an order is missing, and a later one is there');
    const promised = answered.filter(({ logBytes }) => logBytes <= wholeBytes).length;
    if (there.length < promised) problems.push(`${there.length} of ${promised} orders are there`);
    for (const { order, state } of there) {
      decodeInstance(state);
      if (JSON.stringify(order.body) !== JSON.stringify(work())) problems.push(`${order.orderId} is another order`);
    }
    const listed = await store.list({}, undefined, answered.length + 1);
    // The last order may have been stored before its answer.
    if (listed.items.length > answered.length || listed.items.length < there.length)
      problems.push(`${listed.items.length} orders are listed`);
    return problems;
  } finally {
    await database.close();
  }
}

export const pageBytes = 4096;

/** The effect of a damaged page: refused at the start, found by a reader, or never read. */
export type PageFate = 'refused' | 'found' | 'untouched';

/** Overwrites one page of a data file without a log, and reads everything. Fails if an error names no remedy. */
export async function fateOfPage(left: Wreck, folder: string, page: number, wasOpen: boolean): Promise<PageFate | Error> {
  copyOf(left, folder);
  if (wasOpen) truncateSync(logFile(folder), 0);
  else rmSync(logFile(folder));
  // The header of the first page says which program the file belongs to.
  const from = page === 0 ? 100 : 0;
  overwrite(dataFile(folder), page * pageBytes + from, new Uint8Array(pageBytes - from).fill(0xa5));
  const opened = openedOrNot(folder);
  if (opened instanceof Error) return opened instanceof SetupError && /damaged/.test(opened.message) ? 'refused' : opened;
  const stored = left.answered.filter(({ logBytes }) => logBytes === 0);
  try {
    const found = await Promise.all(stored.map(({ orderId }) => opened.store.load(orderId)));
    const isRight = found.every((each) => JSON.stringify(each?.order.body) === JSON.stringify(work()));
    const { items } = await opened.store.list({}, undefined, stored.length + 1);
    return isRight && items.length === stored.length ? 'untouched' : new Error(`page ${page}: something is missing, and nobody says so`);
  } catch (error) {
    return error instanceof StoreUnavailableError && error.fatal && error.remedy !== undefined ? 'found' : (error as Error);
  } finally {
    await opened.database.close().catch(() => undefined);
  }
}

function openedOrNot(folder: string): Embedded | Error {
  try {
    return openEmbedded(folder, { clock: systemClock });
  } catch (error) {
    return error as Error;
  }
}

export const scratchIn = ({ folder }: Site): string => join(folder, 'torn');
