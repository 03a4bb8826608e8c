import { statSync } from 'node:fs';
import { StoreUnavailableError } from '#ports/errors';
import { errcode, isFatal, remedies } from './sqlite-errors.ts';

/** The data file of an open database, and whether it is still in place and undamaged. */
export interface DataFile {
  /** Returns the error that ended the use of the file, if any. */
  gone(): StoreUnavailableError | undefined;
  /** Throws if the file is not in place. SQLite would continue to write into a deleted file, and those writes would be lost. */
  ensureInPlace(): void;
  /** Converts an error of SQLite. A fatal one ends the use of the file. */
  unavailable(error: unknown): StoreUnavailableError;
  /** Registers a listener for the loss or damage of the file. It runs once. */
  onGone(listener: (error: StoreUnavailableError) => void): void;
  stopWatching(): void;
}

/** The interval at which a process checks whether its file is gone, also without writes. A write notices it immediately. */
const lookForFileEveryMs = 1000;

/** Watches an open data file, or nothing for `:memory:`. */
export function watchDataFile(path: string): DataFile {
  const isFile = path !== ':memory:';
  const inode = isFile ? statSync(path).ino : 0;
  const listeners: ((error: StoreUnavailableError) => void)[] = [];
  let gone: StoreUnavailableError | undefined;

  function ensureInPlace(): void {
    if (!isFile) return;
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.ino !== inode) throw new StoreUnavailableError(`The data file ${path} is gone.`, { fatal: true });
  }

  function unavailable(error: unknown): StoreUnavailableError {
    const problem =
      error instanceof StoreUnavailableError
        ? error
        : new StoreUnavailableError(`The data file ${path}: ${(error as Error).message}.`, {
            fatal: isFatal(error),
            cause: error,
            remedy: remedies[errcode(error) ?? 0],
          });
    if (problem.fatal && !gone) {
      gone = problem;
      for (const listener of listeners) listener(problem);
    }
    return problem;
  }

  const watching = setInterval(() => {
    try {
      ensureInPlace();
    } catch (error) {
      unavailable(error);
    }
  }, lookForFileEveryMs).unref();

  return {
    gone: () => gone,
    ensureInPlace,
    unavailable,
    onGone: (listener) => void listeners.push(listener),
    stopWatching: () => clearInterval(watching),
  };
}
