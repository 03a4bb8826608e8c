import type { CliCommand } from '#cli/command';
import { type FaultView, listed, orderPath, resolveOrderId, type Time } from '#cli/orders';
import { counted, printable, table, widthMax } from '#cli/text';

interface Entry {
  readonly seq: number;
  readonly at: Time;
  readonly type: string;
  readonly path?: string;
  readonly [field: string]: unknown;
}

interface Options {
  wide?: true;
}

/** Prints an order's journal. */
export const orderHistory: CliCommand<Options> = {
  name: 'order history',
  summary: "Print an order's history, oldest first",
  declare: (command) =>
    command.argument('<id>', 'order id, or its beginning').option('--wide', `print every line whole, not its first ${widthMax} characters`),

  async run(cli, { wide }, [id = '']) {
    const api = await cli.api('operator');
    const items = await listed<Entry>(api, `${orderPath(await resolveOrderId(api, id))}/history`);
    const rows = items.map((entry, index) => [
      String(entry.seq),
      new Date(entry.at).toISOString(),
      entry.type,
      entry.path ?? '',
      detailsIn(entry, items.slice(index + 1)),
    ]);
    cli.print({ items }, () => table(['seq', 'at', 'type', 'path', ''], rows, cli.paint, wide ? Number.POSITIVE_INFINITY : widthMax));
    const cut = wide || cli.json ? 0 : rows.filter((row) => row.some((cell) => cell.length > widthMax)).length;
    if (cut > 0) cli.terminal.say(`${counted(cut, 'line')} cut at "…". To see all of it: redress order history ${printable(id)} --wide`);
  },
};

function detailsIn({ seq: _, at: __, type, path: ___, ...fields }: Entry, later: readonly Entry[]): string {
  if (type === 'InstructionGiven') return detailsOf(instructionFirst(fields));
  if (type === 'ExceptionHandled') {
    const { at: _, ...handling } = (fields['handling'] ?? {}) as { readonly [field: string]: unknown };
    return `${detailsOf({ exceptionId: fields['exceptionId'], ...handling })} ${afterText(later)}`;
  }
  return detailsOf(fields);
}

/** Puts the values of an instruction before the state of the order, because a screen may cut the end of a line. */
function instructionFirst({ kind, by, reason, before, after, ...others }: { readonly [field: string]: unknown }) {
  const values = Object.fromEntries(Object.entries((after ?? {}) as object).filter(([name]) => !standing.has(name)));
  return { kind, by, ...values, reason, ...others, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

const standing: ReadonlySet<string> = new Set(['processState', 'outcome', 'suspended']);

/** Returns the outcome after an exception was handled: the order may be blocked again. */
function afterText(later: readonly Entry[]): string {
  const next = later.find(({ type }) => type === 'OrderBlocked' || type === 'OrderProcessed');
  if (!next) return '(outcome not known yet)';
  const { type, fault, outcome, path } = next;
  return type === 'OrderProcessed'
    ? `(then the order ended: ${outcome})`
    : `(then blocked: ${(fault as FaultView | undefined)?.type} at ${path})`;
}

const detailsOf = (fields: { readonly [name: string]: unknown }): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
