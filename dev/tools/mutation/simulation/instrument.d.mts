interface Position {
  readonly line: number;
  readonly column: number;
}

/** One small change of the code. Lines of positions count from 0. */
export interface Change {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly from: Position;
  readonly to: Position;
  readonly mutator: string;
  readonly replacement: string;
}

/** Builds one source for each file, which holds all changes of the file: `globalThis.mutation` names the active change. */
export function instrument(
  files: readonly { readonly name: string; readonly content: string }[],
): Promise<{ readonly sources: { readonly [name: string]: string }; readonly mutants: readonly Change[] }>;
