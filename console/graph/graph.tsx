import type { VNode } from 'preact';
import type { Layout, PlacedBox, PlacedEdge, PlacedFrame } from '#diagrams/layout';
import { curve, sixCorners, tip } from '#diagrams/shapes';
import { icons } from '../parts/icons.ts';
import { shown } from '../parts/text.tsx';
import type { Look } from './look.ts';

interface Props {
  readonly layout: Layout;
  /** A sentence that says what the drawing shows. */
  readonly label: string;
  readonly looks: ReadonlyMap<string, Look>;
  /** Paths of activities that have begun. */
  readonly reached: ReadonlySet<string>;
  /** Whether the order was completed or undone, and so has reached the end of the graph. */
  readonly isEnded?: boolean;
  readonly chosen?: string | undefined;
  readonly choose?: ((path: string) => void) | undefined;
  /** Whether the graph is drawn at half the size, beside a form. */
  readonly compact?: boolean;
}

const lineHeight = 17;

/** A workflow, with what became of each step of one order. */
export function Graph({ layout, label, looks, reached, isEnded = false, chosen, choose, compact = false }: Props) {
  const { width, height, frames, boxes, edges } = layout;
  const reachedNodes = reachedIds(layout, reached, isEnded);
  return (
    <svg
      class={`graph ${compact ? 'compact' : ''}`}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="group"
      aria-label={label}
      onKeyDown={moveAlong}
    >
      {frames.map((frame) => (
        <Frame key={frame.frame.id} {...frame} />
      ))}
      {edges.map((edge, index) => (
        <Edge key={index} {...edge} isTaken={reachedNodes.has(edge.edge.from) && reachedNodes.has(edge.edge.to)} />
      ))}
      {boxes.map((box) => (
        <Box key={box.node.id} box={box} look={looks.get(box.node.path ?? '')} isChosen={chosen === box.node.path} choose={choose} />
      ))}
      {edges.map((edge, index) => (
        <Label key={index} {...edge} />
      ))}
    </svg>
  );
}

/**
 * Ids of nodes and frames that the order has passed. A join counts as passed if a node before it and a node after it are passed. If the join is
 * the end of its branch, a node before it is enough.
 */
function reachedIds({ boxes, frames, edges }: Layout, reached: ReadonlySet<string>, isEnded: boolean): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { node } of boxes) {
    const isReached = node.kind === 'begin' ? reached.size > 0 : node.kind === 'end' ? isEnded : reached.has(node.path ?? ' ');
    if (isReached) ids.add(node.id);
  }
  for (const { frame } of frames) if (reached.has(frame.path)) ids.add(frame.id);
  for (const { node } of boxes)
    if (node.path === undefined && node.kind === 'join') {
      const isBeforeReached = edges.some(({ edge }) => edge.to === node.id && ids.has(edge.from));
      const edgesAfter = edges.filter(({ edge }) => edge.from === node.id);
      if (isBeforeReached && (edgesAfter.length === 0 || edgesAfter.some(({ edge }) => ids.has(edge.to)))) ids.add(node.id);
    }
  return ids;
}

/** Moves the focus to the next or previous step with the arrow keys. */
function moveAlong(event: KeyboardEvent): void {
  const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const here = (event.target as Element).closest('[role=button]');
  if (by === undefined || !here) return;
  const all = [...(event.currentTarget as Element).querySelectorAll<SVGGElement>('[role=button]')];
  all[all.indexOf(here as SVGGElement) + by]?.focus();
  event.preventDefault();
}

const Frame = ({ frame, title, left, top, width, height }: PlacedFrame) => (
  <g class="frame">
    <rect class={frame.kind === 'scope' ? '' : 'f2'} x={left} y={top} width={width} height={height} rx="8" />
    {title.lines.map(({ text }, index) => (
      <text key={index} x={left + 12} y={top + 19 + index * lineHeight}>
        {shown(text)}
      </text>
    ))}
  </g>
);

const Edge = ({ edge, points, isTaken }: PlacedEdge & { isTaken: boolean }) => {
  const [start, end] = [points[0], points.at(-1)];
  if (!start || !end) return null;
  const line = edge.kind === 'undo' ? points.slice(1).map(({ x, y }) => `L${x} ${y}`) : [curve(points)];
  const kind = `${edge.kind} ${isTaken && edge.kind !== 'undo' ? 'took' : ''}`;
  return (
    <>
      <path class={`edge ${kind}`} d={`M${start.x} ${start.y}${line.join('')}`} />
      {edge.kind !== 'undo' && <path class={`tip ${kind}`} d={tip(end)} />}
    </>
  );
};

const Label = ({ edge, label }: PlacedEdge) =>
  label && edge.kind !== 'undo' ? (
    <g class="lab">
      <rect
        x={label.x - (label.width + 10) / 2}
        y={label.y - (label.height + 2) / 2}
        width={label.width + 10}
        height={label.height + 2}
        rx="4"
      />
      <Lines of={label} x={label.x} y={label.y} anchor="middle" />
    </g>
  ) : null;

interface LinesProps {
  readonly of: PlacedBox['text'];
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle';
}

const Lines = ({ of: { lines }, x, y, anchor }: LinesProps) => (
  <>
    {lines.map(({ text, face }, index) => (
      <text
        key={index}
        class={face === 'mono' ? 'mono' : face === 'bold' ? 'name' : ''}
        text-anchor={anchor}
        x={x}
        y={y - ((lines.length - 1) * lineHeight) / 2 + 4 + index * lineHeight}
      >
        {/* The space keeps the words of two lines apart in a screen reader. */}
        {`${shown(text)} `}
      </text>
    ))}
  </>
);

interface BoxProps {
  readonly box: PlacedBox;
  readonly look: Look | undefined;
  readonly isChosen: boolean;
  readonly choose: ((path: string) => void) | undefined;
}

/** Kinds of nodes that show the state of their activity. */
const followed = new Set(['step', 'wait', 'other']);

function Box({ box, look, isChosen, choose }: BoxProps): VNode | null {
  const { node, text, left, top, width, height } = box;
  const middle = { x: left + width / 2, y: top + height / 2 };
  if (node.kind === 'join') return <circle class="join" cx={middle.x} cy={middle.y} r={width / 2} />;
  if (node.kind === 'undo')
    return (
      <g class={`u ${look?.kind === 'stuck' ? 'bad' : look?.kind === 'undoing' || look?.kind === 'willundo' ? 'on' : ''}`}>
        <rect x={left} y={top} width={width} height={height} rx={height / 2} />
        <Lines of={text} {...middle} anchor="middle" />
      </g>
    );
  if (look && followed.has(node.kind)) return <Followed box={box} look={look} isChosen={isChosen} choose={choose} />;
  return (
    <g class={`pill ${node.kind === 'begin' || node.kind === 'end' ? '' : 'dim'}`}>
      {node.kind === 'choice' ? (
        <path d={sixCorners(box)} />
      ) : (
        <rect x={left} y={top} width={width} height={height} rx={node.kind === 'assign' ? 6 : Math.min(17, height / 2)} />
      )}
      <Lines of={text} {...middle} anchor="middle" />
    </g>
  );
}

function Followed({ box, look, isChosen, choose }: BoxProps & { look: Look }) {
  const { node, text, left, top, width, height } = box;
  const { path = '' } = node;
  const press = choose && (() => choose(path));
  return (
    <g
      class={`n ${look.kind}`}
      {...(press
        ? {
            role: 'button',
            tabIndex: 0,
            'aria-pressed': isChosen,
            // The label begins with the visible text, so that voice control finds the box by that text.
            'aria-label': `${text.lines.map((line) => line.text).join(' ')} ${look.says}: ${look.word}`,
            'data-path': path,
            onClick: press,
            onKeyDown: (event: KeyboardEvent) => {
              if (event.key !== 'Enter' && event.key !== ' ') return;
              event.preventDefault();
              press();
            },
          }
        : {})}
    >
      {isChosen && <rect class="ring" x={left - 4} y={top - 4} width={width + 8} height={height + 8} rx="9" />}
      <rect class="ground" x={left} y={top} width={width} height={height} rx="6" />
      <path
        class="ico"
        transform={`translate(${left + 11} ${top + height / 2 - 8})`}
        d={icons[look.icon]}
        stroke-dasharray={look.icon === 'idle' ? '2.2 2.2' : undefined}
      />
      <Lines of={text} x={left + 36} y={top + height / 2} anchor="start" />{' '}
      <text class="says" text-anchor="end" x={left + width - 11} y={top + height / 2 - ((text.lines.length - 1) * lineHeight) / 2 + 4}>
        {look.says}
      </text>
    </g>
  );
}
