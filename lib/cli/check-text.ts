import { type Paint, printable, table } from './text.ts';

/** The answer to a dry run of an instruction. */
export interface CheckView {
  readonly feasible: boolean;
  readonly refusals: readonly { readonly code: string; readonly path?: string; readonly pointer?: string; readonly detail: string }[];
  readonly warnings: readonly { readonly code: string; readonly path?: string; readonly detail: string }[];
  readonly effects: {
    readonly requests: readonly OperationView[];
    readonly undoes: readonly OperationView[];
    readonly skips: readonly string[];
  };
  readonly then: readonly OperationView[];
  /** Of a recovery: whom it concerns in other orders. */
  readonly recovery?: { readonly scope: readonly string[]; readonly consumers: readonly ConsumerView[]; readonly more: boolean };
  readonly estimate: { readonly requests: number; readonly dollars: number };
}

interface ConsumerView {
  readonly orderId: string;
  readonly path: string;
  readonly object: string;
}

interface OperationView {
  readonly path: string;
  readonly operation: string;
}

/** Returns a check as a table: what would be skipped, undone and requested, and what follows; or every reason against it. */
export function checkText({ feasible, refusals, warnings, effects, then, estimate, recovery }: CheckView, paint: Paint): string {
  if (!feasible)
    return table(
      ['refused', 'at', 'because'],
      // A pointer names the value within the instruction.
      refusals.map(({ code, path, pointer, detail }) => [code, [path, pointer].filter((each) => each !== undefined).join(' '), detail]),
      paint,
    );
  const rows = [
    ...effects.skips.map((path) => ['skipped', path, '']),
    ...effects.undoes.map(({ path, operation }) => ['undone', path, operation]),
    ...effects.requests.filter(({ path }) => !path.endsWith('/undo')).map(({ path, operation }) => ['requested', path, operation]),
    ...then.map(({ path, operation }) => ['then', path, operation]),
  ];
  const effect =
    rows.length === 0
      ? 'It is feasible. Nothing would be requested, undone or skipped at once.\n'
      : table(['effect', 'step', 'operation'], rows, paint);
  const notes = warnings.map(({ code, detail }) => `${printable(code)}: ${printable(detail)}\n`).join('');
  return `${effect}${recovery ? recoveryText(recovery, paint) : ''}${notes}At most ${estimate.requests} requests, for $${estimate.dollars}.\n`;
}

/** Returns the affected scope, and the consumers in other orders as a table. */
function recoveryText({ scope, consumers, more }: NonNullable<CheckView['recovery']>, paint: Paint): string {
  const rows = consumers.map(({ orderId, path, object }) => [orderId, path, object]);
  const concerned =
    rows.length === 0 ? 'No other order has read what is undone.\n' : table(['concerns order', 'step', 'object'], rows, paint);
  return `\nAffected scope: ${scope.map(printable).join(', ')}\n\n${concerned}${more ? 'There are more.\n' : ''}\n`;
}
