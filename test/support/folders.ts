import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'redress-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The data folder of an embedded system in such a folder. */
export const dataFile = ({ path }: TemporaryFolder): string => join(path, 'redress.sqlite');
