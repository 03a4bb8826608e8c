import type { DrawnNode, NodeKind } from '#core/views/drawing';
import { type Type, widthOf, wrapped } from './text.ts';

/** Text broken into lines, with the size of the whole in pixels. */
export interface SetText {
  readonly lines: readonly { readonly text: string; readonly face: Type['face']; readonly size: number }[];
  readonly width: number;
  readonly height: number;
}

export const leading = 17;

const set = (text: string, type: Type, space: { widthMax: number; linesMax: number }): SetText => {
  const lines = wrapped(text, type, space);
  return {
    lines: lines.map((line) => ({ text: line, ...type })),
    width: Math.ceil(Math.max(...lines.map((line) => widthOf(line, type)))),
    height: lines.length * leading,
  };
};

const below = (above: SetText, more: SetText): SetText => ({
  lines: [...above.lines, ...more.lines],
  width: Math.max(above.width, more.width),
  height: above.height + more.height,
});

export const frameTitle = (title: string): SetText => set(title, { size: 12, face: 'bold' }, { widthMax: 300, linesMax: 3 });
export const edgeLabel = (label: string): SetText => set(label, { size: 11, face: 'mono' }, { widthMax: 190, linesMax: 3 });

/** A node of a drawing with its size, before it has a position. Pixels. */
export interface Box {
  readonly node: DrawnNode;
  readonly text: SetText;
  readonly width: number;
  readonly height: number;
}

/** Horizontal space that the shape takes beside its text. */
const marginX: { readonly [kind in NodeKind]?: number } = { choice: 52, undo: 26, begin: 36, end: 36, wait: 46, compensate: 46, raise: 46 };

/** Measures a node. `room`: further width for a step, a wait or another activity, in pixels, where a page may write beside the text. */
export function boxOf(node: DrawnNode, room = 0): Box {
  const { kind, title, detail } = node;
  if (kind === 'join') return { node, text: { lines: [], width: 0, height: 0 }, width: 10, height: 10 };
  const name: Type = kind === 'undo' ? { size: 11, face: 'mono' } : { size: 13, face: kind === 'assign' ? 'sans' : 'bold' };
  const head = set(title, name, { widthMax: 230, linesMax: 4 });
  const text = detail === undefined ? head : below(head, set(detail, { size: 11, face: 'mono' }, { widthMax: 230, linesMax: 3 }));
  const beside = kind === 'step' || kind === 'wait' || kind === 'other' ? room : 0;
  const width = Math.max(kind === 'end' ? 60 : 90, text.width + beside + (marginX[kind] ?? 28));
  // Even sizes, so that a box centered on a whole pixel has whole pixels for its edges.
  return { node, text, width: even(width), height: even(text.height + (kind === 'undo' ? 10 : 17)) };
}

export const even = (length: number): number => 2 * Math.ceil(length / 2);
