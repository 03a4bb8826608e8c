const [height, step, width] = [20, 3.66, 2.7];
const round = (length: number): number => Math.round(length * 100) / 100;

/**
 * Counts of 24 hours as small bars, the oldest first. The last three hours are marked. All bars of a kind are one shape, because a list
 * of a hundred sparks would otherwise have thousands of elements.
 */
export function Spark({ perHour }: { perHour: readonly number[] }) {
  const most = Math.max(1, ...perHour);
  const bars: { zero: string; hot: string; norm: string } = { zero: '', hot: '', norm: '' };
  for (const [hour, count] of perHour.entries()) {
    const tall = count === 0 ? 1 : Math.max(3, (height * count) / most);
    const kind = count === 0 ? 'zero' : hour >= perHour.length - 3 ? 'hot' : 'norm';
    bars[kind] += `M${round(hour * step)} ${round(height - tall)}h${width}v${round(tall)}h-${width}z`;
  }
  return (
    <svg
      class="spark"
      width="88"
      height={height}
      viewBox={`0 0 88 ${height}`}
      role="img"
      aria-label={`per hour, last 24 hours: ${perHour.join(', ')}`}
    >
      {Object.entries(bars).map(([kind, path]) => path !== '' && <path key={kind} class={kind} d={path} />)}
    </svg>
  );
}
