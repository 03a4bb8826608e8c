import { Graph, layout } from '@dagrejs/dagre';
import type { Drawing, DrawnEdge, DrawnFrame, DrawnItem } from '#core/views/drawing';
import { type Box, boxOf, edgeLabel, even, frameTitle, type SetText } from './boxes.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedBox extends Box, Rectangle {}

export interface PlacedFrame extends Rectangle {
  readonly frame: DrawnFrame;
  readonly title: SetText;
}

export interface PlacedEdge {
  readonly edge: DrawnEdge;
  /** Points from its beginning to its end: downwards, or from left to right for an undo. */
  readonly points: readonly Point[];
  /** The label, with its center. */
  readonly label: (SetText & Point) | undefined;
}

/** A drawing with all positions, in whole pixels from 0 and 0. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Frames, outer ones first. */
  readonly frames: readonly PlacedFrame[];
  readonly boxes: readonly PlacedBox[];
  readonly edges: readonly PlacedEdge[];
}

/** The contents of a block or a level. In a block, x is measured from its flow line: the vertical at which the flow enters and leaves. */
interface Area {
  readonly frames: readonly PlacedFrame[];
  readonly boxes: readonly PlacedBox[];
  readonly edges: readonly PlacedEdge[];
}

/** One item of a level: a node with its undo, or a frame with its content. */
interface Block {
  readonly id: string;
  readonly area: Area;
  /** The distance from the flow line to the left side. */
  readonly left: number;
  readonly right: number;
  readonly height: number;
  readonly isFrame: boolean;
}

const gaps = { rank: 38, node: 34, edge: 22, undo: 62, frame: 20, title: 14, corner: 12 } as const;
const margin = 20;

/**
 * Lays out the inside of each frame with dagre, then treats the frame as one block of its surroundings. Workflows are properly nested, so
 * every arrow connects blocks of one level. `room`: as in `boxOf`.
 */
export function layOut({ items }: Pick<Drawing, 'items'>, room = 0): Layout {
  const { area, bounds } = levelOf(items, room);
  const { frames, boxes, edges } = moved(area, margin - bounds.left, margin - bounds.top);
  return { width: even(bounds.width + 2 * margin), height: even(bounds.height + 2 * margin), frames, boxes, edges };
}

function levelOf(items: readonly DrawnItem[], room: number): { readonly area: Area; readonly bounds: Rectangle; readonly entryX: number } {
  const undoOf = new Map(items.flatMap((item) => (item.item === 'edge' && item.kind === 'undo' ? [[item.from, item] as const] : [])));
  const undos = new Set([...undoOf.values()].map(({ to }) => to));
  const blocks = items.flatMap((item): readonly Block[] => {
    if (item.item === 'frame') return [frameBlock(item, room)];
    if (item.item === 'edge' || undos.has(item.id)) return [];
    const undo = undoOf.get(item.id);
    const undoNode = undo && items.find((each) => each.item === 'node' && each.id === undo.to);
    return [nodeBlock(boxOf(item, room), undo && undoNode?.item === 'node' ? { edge: undo, box: boxOf(undoNode) } : undefined)];
  });
  return placed(blocks, liftedEdges(items));
}

function nodeBlock(box: Box, undo: { readonly edge: DrawnEdge; readonly box: Box } | undefined): Block {
  const { width, height, node } = box;
  const half = width / 2;
  const boxes = [{ ...box, left: -half, top: 0 }];
  if (!undo) return { id: node.id, area: { frames: [], boxes, edges: [] }, left: half, right: half, height, isFrame: false };

  const left = half + gaps.undo;
  const middle = height / 2;
  const label = undo.edge.label === undefined ? undefined : { ...edgeLabel(undo.edge.label), x: half + gaps.undo / 2, y: middle };
  const edge = {
    edge: undo.edge,
    points: [
      { x: half, y: middle },
      { x: left, y: middle },
    ],
    label,
  };
  const area = { frames: [], boxes: [...boxes, { ...undo.box, left, top: middle - undo.box.height / 2 }], edges: [edge] };
  return { id: node.id, area, left: half, right: left + undo.box.width, height, isFrame: false };
}

function frameBlock(frame: DrawnFrame, room: number): Block {
  const { area, bounds, entryX } = levelOf(frame.items, room);
  const title = frameTitle(frame.title);
  const head = title.height + gaps.title;
  const titleWidth = title.width + 2 * gaps.title + (frame.kind === 'scope' ? 0 : 18);
  const left = entryX - bounds.left + gaps.frame;
  const right = Math.max(bounds.left + bounds.width - entryX + gaps.frame, titleWidth - left);
  const height = even(head + bounds.height + gaps.frame);
  const inside = moved(area, -entryX, head - bounds.top);
  const around = { frame, title, left: -left, top: 0, width: left + right, height };
  return { id: frame.id, area: { ...inside, frames: [around, ...inside.frames] }, left, right, height, isFrame: true };
}

/** Returns the arrows between blocks of this level. An arrow into a deeper level ends at the frame that it crosses. */
function liftedEdges(items: readonly DrawnItem[]): readonly DrawnEdge[] {
  const blockOf = new Map<string, string>();
  const claim = (item: DrawnItem, block: string): void => {
    if (item.item === 'edge') return;
    blockOf.set(item.id, block);
    if (item.item === 'frame') for (const inside of item.items) claim(inside, block);
  };
  for (const item of items) if (item.item !== 'edge') claim(item, item.id);

  const lifted = edgesIn(items).flatMap((edge): readonly DrawnEdge[] => {
    const [from, to] = [blockOf.get(edge.from), blockOf.get(edge.to)];
    if (edge.kind === 'undo' || from === undefined || to === undefined || from === to) return [];
    return [{ ...edge, from, to }];
  });
  const keyOf = ({ kind, from, to, label }: DrawnEdge) => JSON.stringify([kind, from, to, label]);
  return [...new Map(lifted.map((edge) => [keyOf(edge), edge])).values()];
}

const edgesIn = (items: readonly DrawnItem[]): readonly DrawnEdge[] =>
  items.flatMap((item) => (item.item === 'edge' ? [item] : item.item === 'frame' ? edgesIn(item.items) : []));

/** The layout of a level by dagre: the position of each block and arrow, in the order of the list. */
interface Arrangement {
  readonly places: ReadonlyMap<string, Place>;
  readonly edges: readonly PlacedEdge[];
}

function placed(blocks: readonly Block[], edges: readonly DrawnEdge[]) {
  const { places, edges: drawn } = arranged(blocks, edges);
  const areas = [...places.values()].map(({ block, x, y }) => moved(block.area, x, y));
  const area: Area = {
    frames: areas.flatMap(({ frames }) => frames),
    boxes: areas.flatMap(({ boxes }) => boxes),
    edges: [...areas.flatMap(({ edges }) => edges), ...drawn],
  };
  const targets = new Set(edges.map(({ to }) => to));
  const entries = [...places.values()].filter(({ block }) => !targets.has(block.id)).map(({ x }) => x);
  const entryX = Math.round((Math.min(...entries) + Math.max(...entries)) / 2);
  return { area, bounds: boundsOf(area), entryX };
}

const aligns = [undefined, 'UL', 'UR', 'DL', 'DR'] as const;

/** Returns the straightest of dagre's alignments: the flow goes straight down, and the branches keep their order. */
function arranged(blocks: readonly Block[], edges: readonly DrawnEdge[]): Arrangement {
  const isChain = new Set(edges.map(({ from }) => from)).size === edges.length && new Set(edges.map(({ to }) => to)).size === edges.length;
  const [first, ...others] = (isChain ? aligns.slice(0, 1) : aligns).flatMap((align) => {
    const graph = graphOf(blocks, edges, align);
    return [1, -1].map((side) => arrangement(blocks, edges, graph, side));
  });
  return others.reduce((best, each) => (crookedness(each) < crookedness(best) ? each : best), first as Arrangement);
}

const labelOf = ({ label }: DrawnEdge): SetText | undefined => (label === undefined ? undefined : edgeLabel(label));

function graphOf(blocks: readonly Block[], edges: readonly DrawnEdge[], align: (typeof aligns)[number]): Graph {
  // dagre centers a block on the flow line although its undo extends to the right. The gaps compensate for that.
  const leans = blocks.map(({ left, right }) => (right - left) / 2);
  const lean = Math.max(0, ...leans) - Math.min(0, ...leans);
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', ranksep: gaps.rank, nodesep: gaps.node + lean, edgesep: gaps.edge + lean, ...(align ? { align } : {}) });
  for (const { id, left, right, height } of blocks) graph.setNode(id, { width: left + right, height });
  for (const [index, edge] of edges.entries()) {
    const { width, height } = labelOf(edge) ?? { width: 0, height: 0 };
    graph.setEdge(edge.from, edge.to, { width: width && width + 12, height: height && height + 8, labelpos: 'c' }, `${index}`);
  }
  layout(graph);
  return graph;
}

/** Reads the positions from the graph that dagre has laid out: as they are (side 1) or mirrored (-1). */
function arrangement(blocks: readonly Block[], edges: readonly DrawnEdge[], graph: Graph, side: number): Arrangement {
  const at = ({ x = 0, y = 0 }: Partial<Point>): Point => ({ x: Math.round(side * x), y: Math.round(y) });
  const places = straightened(new Map(blocks.map((block) => [block.id, { block, ...at(headOf(block, graph.node(block.id))) }])), edges);
  const drawn = edges.map((edge, index): PlacedEdge => {
    const { points = [], ...middle } = graph.edge(edge.from, edge.to, `${index}`);
    const text = labelOf(edge);
    const label = text && { ...text, ...at(middle) };
    return { edge, points: ends(places.get(edge.from), places.get(edge.to), points.slice(1, -1).map(at), edge.kind), label };
  });
  return { places, edges: drawn };
}

/**
 * Moves the end of a level straight below the frame that leads to it, if no other block is in its row. Without this, the end stands
 * between that frame and its handlers.
 */
function straightened(places: ReadonlyMap<string, Place>, edges: readonly DrawnEdge[]): ReadonlyMap<string, Place> {
  const all = [...places.values()];
  const [end, ...others] = all.filter(({ block }) => edges.every(({ from }) => from !== block.id));
  const source = edges.find(({ to, kind }) => to === end?.block.id && kind === 'flow')?.from ?? '';
  const first = places.get(source);
  const isAlone = others.length === 0 && all.every((each) => each === end || each.y + each.block.height <= (end?.y ?? 0));
  if (!end || !first || !isAlone || edges.every(({ from, kind }) => from !== source || kind !== 'fault')) return places;
  return new Map(places).set(end.block.id, { ...end, x: first.x });
}

/**
 * Returns a measure of a layout, of which less is better: how far arrows run sideways, how many violate the order of the definition, faults
 * last, and how wide the layout is.
 */
function crookedness({ places, edges }: Arrangement): number {
  let off = 0;
  const last = new Map<string, number>();
  const failing = new Set(edges.flatMap(({ edge }) => (edge.kind === 'fault' ? [edge.from] : [])));
  const waysTo = Map.groupBy(edges, ({ edge }) => edge.to);
  for (const { edge, points } of edges.toSorted((one, other) => Number(one.edge.kind === 'fault') - Number(other.edge.kind === 'fault'))) {
    const isMain = edge.kind === 'flow' && (waysTo.get(edge.to)?.length === 1 || failing.has(edge.from));
    for (const [index, { x }] of points.entries()) off += (isMain ? flowWeight : 1) * Math.abs(x - (points[index - 1]?.x ?? x));
    const [before, x] = [last.get(edge.from), points[1]?.x ?? 0];
    if (before !== undefined && x < before) off += outOfOrder;
    last.set(edge.from, Math.max(x, before ?? x));
  }
  const sides = [...places.values()].flatMap(({ x, block }) => [x - block.left, x + block.right]);
  return off + widthWeight * (Math.max(...sides) - Math.min(...sides));
}

const flowWeight = 4;
const widthWeight = 2;
const outOfOrder = 1000;

interface Place extends Point {
  readonly block: Block;
}

/** Returns the top point of a block's flow line. */
const headOf = ({ height }: Block, { x = 0, y = 0 }: Partial<Point>): Point => ({ x, y: y - height / 2 });

/** Returns the points of an arrow, from the foot of one block to the head of the other. A fault leaves its frame nearest to its handler. */
function ends(from: Place | undefined, to: Place | undefined, between: readonly Point[], kind: DrawnEdge['kind']): readonly Point[] {
  if (!from || !to) return [];
  const { left, right, height } = from.block;
  const next = between[0]?.x ?? to.x;
  const x = kind === 'fault' ? Math.min(Math.max(next, from.x - left + gaps.corner), from.x + right - gaps.corner) : from.x;
  // If the arrow goes straight down to its last bend, that bend is left out, so that it turns at its end instead.
  const last = between.at(-1);
  const bends = last && last.x === (between.at(-2)?.x ?? x) ? between.slice(0, -1) : between;
  return [{ x, y: from.y + height }, ...bends, { x: to.x, y: to.y }];
}

const moved = ({ frames, boxes, edges }: Area, x: number, y: number): Area => ({
  frames: frames.map((frame) => ({ ...frame, left: frame.left + x, top: frame.top + y })),
  boxes: boxes.map((box) => ({ ...box, left: box.left + x, top: box.top + y })),
  edges: edges.map(({ edge, points, label }) => ({
    edge,
    points: points.map((point) => ({ x: point.x + x, y: point.y + y })),
    label: label && { ...label, x: label.x + x, y: label.y + y },
  })),
});

function boundsOf({ frames, boxes, edges }: Area): Rectangle {
  const labels = edges.flatMap(({ label }) =>
    label ? [{ left: label.x - label.width / 2 - 6, top: label.y - label.height / 2, width: label.width + 12, height: label.height }] : [],
  );
  const points = edges.flatMap((edge) => edge.points.map(({ x, y }) => ({ left: x, top: y, width: 0, height: 0 })));
  const all: readonly Rectangle[] = [...frames, ...boxes, ...labels, ...points];
  const left = Math.floor(Math.min(...all.map((each) => each.left)));
  const top = Math.floor(Math.min(...all.map((each) => each.top)));
  const right = Math.ceil(Math.max(...all.map((each) => each.left + each.width)));
  const bottom = Math.ceil(Math.max(...all.map((each) => each.top + each.height)));
  return { left, top, width: right - left, height: bottom - top };
}
