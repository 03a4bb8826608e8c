import { isUndoPath } from '#core/data/ids';
import { counted, type Paint, printable, table } from './text.ts';

/** The answer to a dry run of an instruction. */
export interface CheckView {
  readonly feasible: boolean;
  readonly refusals: readonly { readonly code: string; readonly path?: string; readonly pointer?: string; readonly detail: string }[];
  readonly warnings: readonly { readonly code: string; readonly path?: string; readonly detail: string }[];
  readonly effects: {
    readonly requests: readonly OperationView[];
    readonly undoes: readonly OperationView[];
    readonly skips: readonly string[];
    readonly marks: readonly string[];
  };
  readonly whenResumed: readonly OperationView[];
  readonly then: readonly OperationView[];
  /** The affected scope of a recovery, and its consumers in other orders. */
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

/** Returns the check of an instruction as a table: the steps that it would skip, undo and request, and the steps after; or its refusals. */
export function checkText(check: CheckView, paint: Paint, notes: readonly string[] = []): string {
  const { feasible, refusals, warnings, effects, then, estimate, recovery } = check;
  if (!feasible) return refusalText(refusals, paint);
  const rows = [
    ...effects.marks.map((path) => ['counts as undone', path, '']),
    ...effects.skips.map((path) => ['will be skipped', path, '']),
    ...effects.undoes.map(({ path, operation }) => ['will be undone', path, operation]),
    ...effects.requests.filter(({ path }) => !isUndoPath(path)).map(({ path, operation }) => ['will be requested', path, operation]),
    ...then.map(({ path, operation }) => ['then', path, operation]),
  ];
  const effect =
    rows.length === 0
      ? 'It is feasible. Nothing would be requested, undone or skipped at once.\n'
      : table(['effect', 'step', 'operation'], rows, paint);
  const warned = warnings.map(({ code, detail }) => `${printable(code)}: ${printable(detail)}\n`).join('');
  const noted = notes.map((note) => `${printable(note)}\n`).join('');
  return `${effect}${recovery ? recoveryText(recovery, paint) : ''}${warned}${noted}${estimateText(estimate)}`;
}

const estimateText = ({ requests, dollars }: CheckView['estimate']): string =>
  requests === 0
    ? ''
    : `At most ${counted(requests, 'request')}, if each step uses all its attempts. On AWS they cost at most $${dollars}.\n`;

/** Returns the reasons against an instruction. A pointer names the value of the instruction that is wrong. */
function refusalText(refusals: CheckView['refusals'], paint: Paint): string {
  const rows = refusals.map(({ code, path, pointer, detail }) => {
    const place = [path, pointer].filter((each) => each !== undefined).join(' ');
    return { code, place, detail };
  });
  return rows.some(({ place }) => place !== '')
    ? table(
        ['refused', 'at', 'because'],
        rows.map(({ code, place, detail }) => [code, place, detail]),
        paint,
      )
    : table(
        ['refused', 'because'],
        rows.map(({ code, detail }) => [code, detail]),
        paint,
      );
}

/** Returns the affected scope, and the consumers in other orders as a table. */
function recoveryText({ scope, consumers, more }: NonNullable<CheckView['recovery']>, paint: Paint): string {
  const rows = consumers.map(({ orderId, path, object }) => [orderId, path, object]);
  const concerned =
    rows.length === 0 ? 'No other order has read what is undone.\n' : table(['concerns order', 'step', 'object'], rows, paint);
  return `\nAffected scope: ${scope.map(printable).join(', ')}\n\n${concerned}${more ? 'There are more orders than are shown.\n' : ''}\n`;
}
