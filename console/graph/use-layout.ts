import { useEffect, useState } from 'preact/hooks';
import type { DrawnItem } from '#core/views/drawing';
import type { Layout } from '#diagrams/layout';
import { get } from '../api/client.ts';
import type { Workflow } from '../api/types.ts';

/** A definition with the positions of its boxes. A definition never changes, so it is read once. */
export interface Drawn {
  readonly workflow: Workflow;
  readonly layout: Layout;
  /** The layout without the undo operations, for a small place. */
  readonly compact: Layout;
}

const known = new Map<string, Promise<Drawn>>();
/** Pixels beside the name of a step, for its icon and its state. */
const room = 112;

async function drawn(path: string): Promise<Drawn> {
  const [workflow, { layOut }] = await Promise.all([get<Workflow>(path), import('#diagrams/layout')]);
  const items = workflow.graph as unknown as readonly DrawnItem[];
  return { workflow, layout: layOut({ items }, room), compact: layOut({ items: withoutUndos(items) }, room) };
}

const withoutUndos = (items: readonly DrawnItem[]): readonly DrawnItem[] =>
  items.flatMap((item): readonly DrawnItem[] => {
    if (item.item === 'frame') return [{ ...item, items: withoutUndos(item.items) }];
    return item.kind === 'undo' ? [] : [item];
  });

/** Reads and lays out a definition. Null: the system does not have it, or it cannot be read. */
export function useDrawn({ name, version }: { readonly name: string; readonly version: number }): Drawn | null | undefined {
  const [result, setResult] = useState<Drawn | null>();
  const path = `/workflows/${encodeURIComponent(name)}/${version}`;
  useEffect(() => {
    let isCurrent = true;
    const reading = known.get(path) ?? drawn(path);
    known.set(path, reading);
    reading.then(
      (each) => isCurrent && setResult(each),
      () => {
        known.delete(path);
        if (isCurrent) setResult(null);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [path]);
  return result;
}
