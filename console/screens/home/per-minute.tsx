import type { Overview } from '../../api/types.ts';
import { Panel } from '../../parts/states.tsx';
import { clockTime } from '../../time.ts';

type Minutes = Overview['perMinute'];

/** The sizes in units of the drawing: the width, the margin, and the heights of the bars above and below the line. */
const [width, left, tall, low] = [720, 28, 96, 24];
const bottom = tall + 8;

/** The last hour: finished orders above the line, recorded exceptions below it. */
export function PerMinute({ minutes }: { minutes: Minutes }) {
  const [first, last] = [minutes[0], minutes.at(-1)];
  const most = roundMost(Math.max(...minutes.map(({ processed }) => processed), 2));
  const mostErrors = Math.max(...minutes.map(({ errors }) => errors), 4);
  const step = (width - left) / Math.max(1, minutes.length);
  const sums = minutes.reduce((sum, { processed, errors }) => ({ processed: sum.processed + processed, errors: sum.errors + errors }), {
    processed: 0,
    errors: 0,
  });
  return (
    <Panel
      title="Orders per minute"
      end={
        <span class="row soft t-s">
          <i class="sw norm" /> finished <i class="sw bad" /> exceptions
        </span>
      }
    >
      <div class="body">
        <svg
          class="chart"
          viewBox={`0 -8 ${width} ${bottom + low + 30}`}
          role="img"
          aria-label={`In the last hour ${sums.processed} orders finished, and ${sums.errors} exceptions were recorded.`}
        >
          {[most, most / 2, 0].map((value) => (
            <g key={value}>
              <path class="grid" d={`M${left} ${heightOf(value, most)}H${width}`} />
              <text x={left - 8} y={heightOf(value, most) + 4} text-anchor="end">
                {value}
              </text>
            </g>
          ))}
          {minutes.map(({ at, processed, errors }, index) => (
            <g key={at}>
              <title>{`${clockTime(at)}: ${processed} finished, ${errors} exceptions`}</title>
              {processed > 0 && (
                <rect
                  class="bar"
                  x={left + index * step + 1}
                  y={heightOf(processed, most)}
                  width={step - 2}
                  height={bottom - heightOf(processed, most)}
                />
              )}
              {errors > 0 && (
                <rect
                  class="err"
                  x={left + index * step + 1}
                  y={bottom + 2}
                  width={step - 2}
                  height={Math.max(4, (low * errors) / mostErrors)}
                />
              )}
            </g>
          ))}
          {first && last && (
            <>
              <text x={left} y={bottom + low + 18}>
                {clockTime(first.at).slice(0, 5)}
              </text>
              <text x={width} y={bottom + low + 18} text-anchor="end">
                {clockTime(last.at).slice(0, 5)}
              </text>
            </>
          )}
        </svg>
      </div>
    </Panel>
  );
}

const heightOf = (value: number, most: number): number => bottom - (tall * value) / most;

/** Rounds up to an even number of one digit and zeros (37 to 40), so that half of it is a whole number. */
function roundMost(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most));
  const rounded = Math.ceil(most / unit) * unit;
  return rounded % 2 === 0 ? rounded : rounded + unit;
}
