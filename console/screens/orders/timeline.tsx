import type { HistoryEntry, Order } from '../../api/types.ts';
import { isUndo } from '../../graph/look.ts';
import { Empty, Panel } from '../../parts/states.tsx';
import { shown } from '../../parts/text.tsx';
import { clockTime, lengthOf, now } from '../../time.ts';
import { type Bar, barsOf, scaleOf } from './bars.ts';

const [wide, left, right, top, rowHeight] = [1130, 170, 24, 44, 58];

const legend = [
  ['done', 'requested, done'],
  ['fail', 'requested, failed for now'],
  ['refused', 'requested, refused'],
  ['work', 'requested, no answer yet'],
  ['undo', 'undone'],
  ['rest', 'pause before the next request'],
  ['wait', 'waits for a time, a signal or an order'],
  ['person', 'blocked'],
] as const;

/** All requests of an order over time, with the waits between them. */
export function Timeline({ order, entries }: { order: Order; entries: readonly HistoryEntry[] }) {
  const waits = new Set(order.steps.filter(({ activity }) => activity !== 'step').map(({ path }) => path));
  const bars = barsOf(entries, waits);
  if (bars.length === 0)
    return (
      <Panel label="Timeline">
        <Empty title="Nothing was requested yet." />
      </Panel>
    );
  const kinds = new Set(bars.map(({ kind }) => kind));
  const isOver = order.processState === 'Processed';
  const end = isOver ? Math.max(...bars.map(({ from, to }) => to ?? from)) : now.value;
  return (
    <section class="panel" aria-label="Timeline">
      <div class="bar">
        <span class="legend">
          {legend.map(([kind, name]) =>
            kinds.has(kind) ? (
              <span key={kind}>
                <svg class="tl" viewBox="0 0 22 12" aria-hidden="true">
                  {kind === 'rest' ? <path class="rest" d="M0 6H22" /> : <rect class={kind} x="1" y="1" width="20" height="10" rx="2" />}
                </svg>
                {name}
              </span>
            ) : null,
          )}
        </span>
      </div>
      <div class="canvas tl-canvas">
        <Chart order={order} bars={bars} end={end} isOver={isOver} />
      </div>
      <footer>
        A bar begins with the request to the agent and ends with its answer: the queue and the work together. Long waits are folded.
      </footer>
    </section>
  );
}

interface ChartProps {
  readonly order: Order;
  readonly bars: readonly Bar[];
  readonly end: number;
  readonly isOver: boolean;
}

function Chart({ order, bars, end, isOver }: ChartProps) {
  const rows = order.steps.filter(({ path }) => !isUndo(path) && bars.some((bar) => bar.path === path));
  const scale = scaleOf(bars, end, wide - left - right);
  const x = (time: number): number => left + scale.x(time);
  const bottom = top + rows.length * rowHeight;
  const start = Math.min(...bars.map(({ from }) => from));
  return (
    <svg class="tl" viewBox={`0 0 ${wide} ${bottom + 30}`} role="img" aria-label={spoken(order, bars)}>
      <Hatches />
      <text class="axis" x={left} y="20">
        {clockTime(start)}
      </text>
      {scale.marks.map((mark) => (
        <g key={mark.ms}>
          <path class="grid" d={`M${left + mark.x} ${top - 10}V${bottom}`} />
          {left + mark.x > left + 64 && left + mark.x < wide - right - 100 && (
            <text
              class="axis"
              text-anchor="middle"
              x={left + mark.x}
              y="20"
            >{`+${mark.ms < 1_000 ? `${Math.round(mark.ms)} ms` : lengthOf(mark.ms)}`}</text>
          )}
        </g>
      ))}
      <path class="nowline" d={`M${x(end)} ${top - 14}V${bottom}`} />
      <text class="axis" text-anchor="end" x={wide - right} y="20">
        {isOver ? `end, ${clockTime(end)}` : `now, ${clockTime(end)}`}
      </text>
      {rows.map(({ path, name, agent, operation, activity }, index) => {
        const y = top + index * rowHeight;
        return (
          <g key={path}>
            <path class="grid" d={`M0 ${y + rowHeight - 4}H${wide}`} />
            <text class="name" x="0" y={y + 16}>
              {clipped(shown(name), 18)}
            </text>
            <text class="m" x="0" y={y + 32}>
              {clipped(shown(agent === null ? activity : `${agent}.${operation}`), 21)}
            </text>
            <Row bars={bars.filter((bar) => bar.path === path)} x={x} y={y} end={end} />
          </g>
        );
      })}
      {scale.folds.map(({ x: at, width, ms }) => (
        <g key={at}>
          <rect class="fold" x={left + at + width / 2 - 6} y={top - 10} width="12" height={bottom - top + 10} />
          <path
            class="foldline"
            d={`M${left + at + width / 2 - 6} ${top - 10}V${bottom}M${left + at + width / 2 + 6} ${top - 10}V${bottom}`}
          />
          <text
            class="axis"
            text-anchor={left + at > wide * 0.85 ? 'end' : 'middle'}
            x={left + at > wide * 0.85 ? wide - right : left + at + width / 2}
            y={bottom + 18}
          >
            {`${lengthOf(ms)} folded`}
          </text>
        </g>
      ))}
      {rows.map(({ path }, index) => (
        <Labels key={path} bars={bars.filter((bar) => bar.path === path)} x={x} y={top + index * rowHeight} end={end} />
      ))}
    </svg>
  );
}

interface RowProps {
  readonly bars: readonly Bar[];
  readonly x: (time: number) => number;
  readonly y: number;
  readonly end: number;
}

const Row = ({ bars, x, y, end }: RowProps) => (
  <>
    {bars.map(({ from, to, kind }, index) => {
      const [begin, finish] = [x(from), Math.max(x(to ?? end), x(from) + 5)];
      return kind === 'rest' ? (
        <path key={index} class="rest" d={`M${begin} ${y + 12}H${finish}`} />
      ) : (
        <rect key={index} class={kind} x={begin} y={y + 4} width={finish - begin} height="16" rx="3" />
      );
    })}
  </>
);

/** Writes the labels of one step. A label stands beside its bar, or below it if another label is in the way. */
function Labels({ bars, x, y, end }: RowProps) {
  const sorted = bars.filter(({ kind }) => kind !== 'rest').toSorted((one, other) => one.from - other.from);
  let free = 0;
  return (
    <>
      {sorted.map(({ from, to, kind, label }, index) => {
        if (label === '') return null;
        const finish = Math.max(x(to ?? end), x(from) + 5);
        const width = label.length * 6.6;
        const next = sorted[index + 1] === undefined ? wide - 4 : x(sorted[index + 1]?.from ?? end);
        const isBeside = finish + 6 + width < next;
        const at = isBeside ? finish + 6 : Math.max(Math.min(x(from), wide - width - 8), free);
        if (!isBeside && at + width > wide) return null;
        if (!isBeside) free = at + width + 12;
        return (
          <text key={index} class={`lab ${kind === 'refused' || kind === 'person' ? 'stop' : ''}`} x={at} y={isBeside ? y + 16 : y + 36}>
            {shown(label)}
          </text>
        );
      })}
    </>
  );
}

const clipped = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const spoken = ({ steps }: Order, bars: readonly Bar[]): string =>
  steps
    .flatMap(({ path, name }) => {
      const mine = bars.filter((bar) => bar.path === path && bar.kind !== 'rest');
      return mine.length === 0 ? [] : [`${name}: ${mine.map(({ label, kind }) => label || kind).join('; ')}`];
    })
    .join('. ');

const Hatches = () => (
  <defs>
    <pattern id="hatch-stop" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <path class="hs" d="M0 0V6" />
    </pattern>
    <pattern id="hatch-wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <path class="hw" d="M0 0V6" />
    </pattern>
  </defs>
);
