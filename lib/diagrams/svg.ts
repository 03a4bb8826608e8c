import type { Drawing, NodeKind } from '#core/views/drawing';
import { leading, type SetText } from './boxes.ts';
import { layOut, type PlacedBox, type PlacedEdge, type PlacedFrame, type Point } from './layout.ts';
import { curve, sixCorners, tip } from './shapes.ts';
import { styleSheet } from './style.ts';
import { escaped } from './text.ts';

/**
 * Returns a workflow as a self-contained SVG document, in the colors of the reader's light or dark mode. Equal drawings have equal bytes.
 */
export function svgOf(drawing: Drawing): string {
  const { width, height, frames, boxes, edges } = layOut(drawing);
  const name = `${drawing.name}@${drawing.version}`;
  const parts = [
    `<title>${escaped(`The workflow ${name}`)}</title>`,
    `<desc>${escaped(summaryOf(boxes))}</desc>`,
    `<style>${styleSheet}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="8"/>`,
    ...frames.map(frameSvg),
    ...edges.map(edgeSvg),
    ...boxes.map(boxSvg),
    ...edges.flatMap((edge) => labelSvg(edge, frames)),
  ];
  const opening = `<svg xmlns="http://www.w3.org/2000/svg" class="redress-graph" role="img" aria-label="${escaped(`The workflow ${name}`)}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  return `${opening}\n${parts.join('\n')}\n</svg>\n`;
}

/** Describes the drawing for screen readers. */
function summaryOf(boxes: readonly PlacedBox[]): string {
  const steps = boxes.filter(({ node }) => node.kind === 'step').map(({ node }) => node.title);
  return steps.length > 0 ? `Steps of the workflow and of its fault handlers: ${steps.join(', ')}.` : 'No steps.';
}

function frameSvg({ frame, title, left, top, width, height }: PlacedFrame): string {
  const isRepeated = frame.kind !== 'scope';
  const icon = isRepeated ? `<path class="icon" d="${again(left + 17, top + 17)}"/>` : '';
  const text = textSvg(title, { x: left + (isRepeated ? 30 : 12), y: top + 13 + title.height / 2 - 4 }, 'start');
  return `<g class="frame ${frame.kind}"><title>${escaped(frame.title)}</title>${rect(left, top, width, height, 8)}${icon}${text}</g>`;
}

function boxSvg({ node, text, left, top, width, height }: PlacedBox): string {
  const { kind, title, detail } = node;
  const middle = { x: left + width / 2, y: top + height / 2 };
  const icon = icons[kind]?.(left + 18, middle.y);
  const shown = textSvg(text, icon ? { ...middle, x: middle.x + 9 } : middle);
  const tooltip = title === '' ? '' : `<title>${escaped(detail === undefined ? title : `${title}: ${detail}`)}</title>`;
  const shape = (shapes[kind] ?? rounded)(left, top, width, height);
  return `<g class="${kind}">${tooltip}${shape}${icon ? `<path class="icon" d="${icon}"/>` : ''}${shown}</g>`;
}

type Shape = (left: number, top: number, width: number, height: number) => string;

const rect = (left: number, top: number, width: number, height: number, radius: number): string =>
  `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="${radius}"/>`;
const rounded: Shape = (left, top, width, height) => rect(left, top, width, height, 6);
const pill: Shape = (left, top, width, height) => rect(left, top, width, height, height / 2);
const hexagon: Shape = (left, top, width, height) => `<path d="${sixCorners({ left, top, width, height })}"/>`;
const dot: Shape = (left, top, width) => `<circle cx="${left + width / 2}" cy="${top + width / 2}" r="${width / 2}"/>`;

const shapes: { readonly [kind in NodeKind]?: Shape } = {
  begin: pill,
  end: pill,
  undo: pill,
  compensate: pill,
  choice: hexagon,
  join: dot,
};

type Icon = (x: number, y: number) => string;

/** Draws an arrow in a circle around a point. */
const again: Icon = (x, y) =>
  `M${x + 5} ${y}A5 5 0 1 1 ${x + 2} ${y - 4.6}M${x - 1} ${y - 6.6}L${x + 2.4} ${y - 4.6}L${x + 0.6} ${y - 1.4}`;
const clock: Icon = (x, y) => `M${x - 6} ${y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M${x} ${y - 3.5}V${y}L${x + 2.5} ${y + 1.5}`;
const back: Icon = (x, y) =>
  `M${x - 2} ${y - 6}L${x - 5} ${y - 3}L${x - 2} ${y}M${x - 5} ${y - 3}H${x + 1.5}A3.5 3.5 0 0 1 ${x + 1.5} ${y + 4}H${x - 3}`;
const bolt: Icon = (x, y) => `M${x + 1} ${y - 6}L${x - 4} ${y + 1}H${x}L${x - 1} ${y + 6}L${x + 4} ${y - 1}H${x}z`;

const icons: { readonly [kind in NodeKind]?: Icon } = { wait: clock, compensate: back, raise: bolt };

function edgeSvg({ edge, points }: PlacedEdge): string {
  const [start, ...rest] = points;
  if (!start) return '';
  const end = edge.kind === 'undo' ? '' : tipAt(points.at(-1) ?? start);
  const line = edge.kind === 'undo' ? rest.map(({ x, y }) => `L${x} ${y}`).join('') : curve(points);
  return `<g class="edge ${edge.kind}"><path d="M${start.x} ${start.y}${line}"/>${end}</g>`;
}

const tipAt = (point: Point): string => `<path class="tip" d="${tip(point)}"/>`;

function labelSvg({ edge, label }: PlacedEdge, frames: readonly PlacedFrame[]): readonly string[] {
  if (!label || edge.label === undefined) return [];
  const { x, y, width, height } = label;
  const isInside = frames.some((frame) => x > frame.left && x < frame.left + frame.width && y > frame.top && y < frame.top + frame.height);
  const box = rect(x - (width + 10) / 2, y - (height + 2) / 2, width + 10, height + 2, 4);
  const text = textSvg(label, { x, y });
  return [`<g class="label ${edge.kind}${isInside ? ' inside' : ''}"><title>${escaped(edge.label)}</title>${box}${text}</g>`];
}

/** Draws lines of text around a point: their center, or the left end of their middle. */
function textSvg({ lines }: SetText, { x, y }: Point, anchor: 'middle' | 'start' = 'middle'): string {
  const first = y - ((lines.length - 1) * leading) / 2 + 4;
  return lines
    .map(
      ({ text, face }, index) =>
        `<text class="${face}" text-anchor="${anchor}" x="${x}" y="${first + index * leading}">${escaped(text)}</text>`,
    )
    .join('');
}
