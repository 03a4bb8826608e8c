import { statusText } from './changes.ts';
import type { Cli } from './command.ts';
import type { Problem } from './errors.ts';
import { type OrderView, type StepView, stateText } from './orders.ts';
import { counted, type Paint, printable, type Style, shortened } from './text.ts';

/** One order of the demo, with its latest known state. */
export interface DemoRow {
  readonly name: string;
  order?: OrderView;
  problem?: Problem;
}

export interface DemoView {
  changed(row: DemoRow, changes: readonly string[]): void;
  end(): void;
}

/** Creates a table that is redrawn with each change. In a pipe, with `--json` and on a small screen, it prints lines instead. */
export function createDemoView({ terminal, paint, json }: Pick<Cli, 'terminal' | 'paint' | 'json'>, rows: readonly DemoRow[]): DemoView {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const isLive = terminal.isScreen && !json && terminal.size().rows > rows.length + 2;
  if (!isLive) {
    const tell = json ? terminal.say : (line: string) => terminal.write(`${line}\n`);
    return {
      changed({ name }, changes) {
        for (const change of changes) tell(printable(`${name.padEnd(nameWidth)}  ${change}`));
      },
      end: () => {},
    };
  }

  let drawn = 0;
  const draw = () => {
    const up = drawn > 0 ? `\u001b[${drawn}A\u001b[J` : '';
    terminal.write(up + rows.map((row) => `${rowText(row, { nameWidth, columns: terminal.size().columns, paint })}\n`).join(''));
    drawn = rows.length;
  };
  draw();
  return { changed: draw, end: () => terminal.write('\n') };
}

const stateWidth = 38;

/** Returns a row no wider than the screen: a wrapped line would break the redrawing. */
export function rowText(
  row: DemoRow,
  { nameWidth, columns, paint }: { readonly nameWidth: number; readonly columns: number; readonly paint: Paint },
): string {
  const { text, style } = stateOf(row);
  const name = shortened(printable(row.name), Math.max(1, columns - 1)).padEnd(Math.min(nameWidth, columns - 1));
  const stateRoom = Math.min(stateWidth, columns - name.length - 3);
  if (stateRoom < 1) return name;
  const steps = shortened(printable(stepsText(row)), Math.max(0, columns - name.length - stateRoom - 5));
  const state = shortened(printable(text), stateRoom);
  return `${name}  ${paint(style, state)}${' '.repeat(stateRoom - state.length)}  ${steps}`.trimEnd();
}

function stateOf({ order, problem }: DemoRow): { readonly text: string; readonly style: Style } {
  if (problem) return { text: `refused: ${problem.code ?? problem.status}`, style: 'red' };
  if (!order) return { text: 'submitting', style: 'dim' };
  const style =
    order.processState === 'Error'
      ? 'yellow'
      : order.processState !== 'Processed'
        ? 'cyan'
        : order.outcome === 'completed'
          ? 'green'
          : 'red';
  return { text: stateText(order), style };
}

const stepsText = ({ order }: DemoRow): string =>
  (order?.steps ?? []).flatMap((step) => (step.status === 'Initialized' || !order ? [] : [stepText(step, order)])).join(', ');

const stepText = (step: StepView, order: OrderView): string => {
  const { attempts = 0 } = step;
  const attempt = attempts > 1 ? ` (attempt ${attempts})` : '';
  return `${step.name} ${step.status === 'Executing' ? '...' : statusText(step, order)}${attempt}`;
};

/** Returns a summary such as `5 orders: 2 completed, 3 blocked`. */
export function summaryOf(rows: readonly DemoRow[]): string {
  const ends = Map.groupBy(rows, (row) =>
    row.problem ? 'refused' : row.order?.processState === 'Error' ? 'blocked' : row.order ? stateText(row.order) : 'not submitted',
  );
  return `${counted(rows.length, 'order')}: ${[...ends].map(([end, { length }]) => `${length} ${end}`).join(', ')}`;
}
