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

/** The data file of an embedded system in a temporary folder. */
export const dataFile = ({ path }: TemporaryFolder): string => join(path, 'redress.sqlite');
