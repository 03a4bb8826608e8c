import type { Point } from './layout.ts';

/** Paths of SVG for the shapes of a drawing, for every renderer. */

/** Draws a line straight down and across, with rounded corners. Its last part bends near the end, each other part near its beginning. */
export const curve = (points: readonly Point[]): string =>
  points
    .slice(1)
    .map(({ x, y }, index) => {
      const before = points[index] ?? { x, y };
      const isLast = index === points.length - 2;
      return before.x === x ? `V${y}` : across(before, { x, y }, isLast ? y - turn : before.y + turn / 2);
    })
    .join('');

/** Half the distance between two ranks. */
const turn = 19;
const radiusMax = 8;

function across(from: Point, to: Point, y: number): string {
  const side = Math.sign(to.x - from.x);
  const radius = Math.min(radiusMax, Math.abs(to.x - from.x) / 2, Math.abs(y - from.y), Math.abs(to.y - y));
  const [begin, end] = [from.x + side * radius, to.x - side * radius];
  return `V${y - radius}Q${from.x} ${y} ${begin} ${y}H${end}Q${to.x} ${y} ${to.x} ${y + radius}V${to.y}`;
}

/** Draws the tip of an arrow that points down to a point. */
export const tip = ({ x, y }: Point): string => `M${x} ${y}L${x - 4} ${y - 8}H${x + 4}z`;

/** Draws a box with a corner at its left and one at its right. */
export function sixCorners({ left, top, width, height }: { left: number; top: number; width: number; height: number }): string {
  const [right, bottom, middle] = [left + width, top + height, top + height / 2];
  return `M${left} ${middle}L${left + 18} ${top}H${right - 18}L${right} ${middle}L${right - 18} ${bottom}H${left + 18}z`;
}
