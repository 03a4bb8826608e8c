const [height, step] = [20, 3.66];

/** Counts of 24 hours as small bars, the oldest first. The last three hours are marked. */
export function Spark({ perHour }: { perHour: readonly number[] }) {
  const most = Math.max(1, ...perHour);
  return (
    <svg
      class="spark"
      width="88"
      height={height}
      viewBox={`0 0 88 ${height}`}
      role="img"
      aria-label={`per hour, last 24 hours: ${perHour.join(', ')}`}
    >
      {perHour.map((count, hour) => {
        const tall = count === 0 ? 1 : Math.max(3, (height * count) / most);
        const kind = count === 0 ? 'zero' : hour >= perHour.length - 3 ? 'hot' : '';
        return <rect key={hour} class={kind} x={hour * step} y={height - tall} width="2.7" height={tall} />;
      })}
    </svg>
  );
}
