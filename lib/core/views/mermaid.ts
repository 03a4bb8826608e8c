import type { WorkflowDefinition } from '#core/definition/definition';
import { drawingOf } from './diagram.ts';
import type { DrawnEdge, DrawnItem, DrawnNode, NodeKind } from './drawing.ts';

/** Returns a workflow as a Mermaid flowchart, as GitHub renders it. */
export const mermaidOf = (definition: WorkflowDefinition): string =>
  `flowchart TD\n${drawingOf(definition).items.map(linesOf(1)).join('')}`;

const linesOf =
  (depth: number) =>
  (item: DrawnItem): string => {
    const line = (text: string) => `${'  '.repeat(depth)}${text}\n`;
    if (item.item === 'node') return line(nodeText(item));
    if (item.item === 'edge') return line(edgeText(item));
    const { id, title, items } = item;
    return `${line(`subgraph ${id} ["${escaped(title)}"]`)}${items.map(linesOf(depth + 1)).join('')}${line('end')}`;
  };

const shapes: { readonly [kind in NodeKind]?: readonly [open: string, close: string] } = {
  begin: ['([', '])'],
  end: ['([', '])'],
  step: ['[', ']'],
  choice: ['{', '}'],
  join: ['((', '))'],
};

function nodeText({ id, kind, title, detail }: DrawnNode): string {
  const [open, close] = shapes[kind] ?? ['(', ')'];
  return `${id}${open}"${escaped(detail === undefined ? title : `${title}\n${detail}`) || ' '}"${close}`;
}

const arrows: { readonly [kind in DrawnEdge['kind']]: string } = { flow: '-->', fault: '-.->', undo: '-.-' };

const edgeText = ({ kind, from, to, label }: DrawnEdge): string =>
  `${from} ${arrows[kind]}${label === undefined ? '' : `|"${escaped(label)}"|`} ${to}`;

const escaped = (text: string): string =>
  text.replaceAll(/[#"<>`]/g, (character) => `#${character.charCodeAt(0)};`).replaceAll('\n', '<br/>');
