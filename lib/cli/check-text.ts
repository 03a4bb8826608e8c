import { type Paint, printable, table } from './text.ts';

/** The answer to a dry run of an instruction. */
export interface CheckView {
  readonly feasible: boolean;
  readonly refusals: readonly { readonly code: string; readonly path?: string; readonly detail: string }[];
  readonly warnings: readonly { readonly code: string; readonly path?: string; readonly detail: string }[];
  readonly effects: {
    readonly requests: readonly OperationView[];
    readonly undoes: readonly OperationView[];
    readonly skips: readonly string[];
  };
  readonly then: readonly OperationView[];
  readonly estimate: { readonly requests: number; readonly dollars: number };
}

interface OperationView {
  readonly path: string;
  readonly operation: string;
}

/** Returns a check as a table: what would be skipped, undone and requested, and what follows; or every reason against it. */
export function checkText({ feasible, refusals, warnings, effects, then, estimate }: CheckView, paint: Paint): string {
  if (!feasible)
    return table(
      ['refused', 'at', 'because'],
      refusals.map(({ code, path = '', detail }) => [code, path, detail]),
      paint,
    );
  const rows = [
    ...effects.skips.map((path) => ['skipped', path, '']),
    ...effects.undoes.map(({ path, operation }) => ['undone', path, operation]),
    ...effects.requests.filter(({ path }) => !path.endsWith('/undo')).map(({ path, operation }) => ['requested', path, operation]),
    ...then.map(({ path, operation }) => ['then', path, operation]),
  ];
  const effect =
    rows.length === 0 ? 'Nothing would be requested, undone or skipped.\n' : table(['effect', 'step', 'operation'], rows, paint);
  const notes = warnings.map(({ code, detail }) => `${printable(code)}: ${printable(detail)}\n`).join('');
  return `${effect}${notes}At most ${estimate.requests} requests, for $${estimate.dollars}.\n`;
}
