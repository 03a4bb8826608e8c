import type { Activity } from '#core/definition/definition';

/** One activity with its parts, taken from the definition itself. */
interface Part {
  readonly path: string;
  readonly node: Activity;
  /** The activity without its parts. */
  readonly text: string;
  readonly children: readonly Part[];
  readonly handlers: readonly Part[];
}

/** Finds the dependents of each activity by trying all pairs, and their closure after Warshall. */
export function bruteForce(root: Activity) {
  const whole = partOf(root, root.name);
  const parts = everyIn(whole);
  const paths = parts.map(({ path }) => path);
  const later = pairs();
  follow(whole, later);
  const data = pairs();
  const control = pairs();
  for (const part of parts) {
    for (const reader of parts)
      if (part !== reader && isRead(part, reader) && (later.has(part.path, reader.path) || isInside(part, reader)))
        data.add(part.path, reader.path);
    for (const inner of everyIn(part)) if (inner !== part) control.add(part.path, inner.path);
  }
  hold(whole, control);
  const both = pairs();
  for (const relation of [data, control]) relation.each((from, to) => both.add(from, to));
  const [byData, byControl, byBoth] = [data, control, both].map((relation) => warshall(paths, relation));
  const without = (relation: Pairs | undefined) => (path: string) =>
    paths.filter((each) => each !== path && relation?.has(path, each)).sort();
  return { paths, data: without(byData), control: without(byControl), scope: (path: string) => [path, ...without(byBoth)(path)].sort() };
}

type Pairs = ReturnType<typeof pairs>;

function pairs() {
  const known = new Map<string, Set<string>>();
  return {
    add: (from: string, to: string) => void known.set(from, (known.get(from) ?? new Set()).add(to)),
    from: (from: string): readonly string[] => [...(known.get(from) ?? [])],
    has: (from: string, to: string): boolean => known.get(from)?.has(to) ?? false,
    each: (call: (from: string, to: string) => void) => {
      for (const [from, all] of known) for (const to of all) call(from, to);
    },
  };
}

function warshall(paths: readonly string[], relation: Pairs): Pairs {
  const closed = pairs();
  relation.each(closed.add);
  for (const middle of paths)
    for (const from of paths) if (closed.has(from, middle)) for (const to of closed.from(middle)) closed.add(from, to);
  return closed;
}

function partOf(node: Activity, path: string): Part {
  const fields = node as unknown as {
    readonly children?: Activity[];
    readonly do?: Activity;
    readonly branches?: { readonly do: Activity }[];
  };
  const children = [...(fields.children ?? []), ...(fields.do ? [fields.do] : []), ...(fields.branches ?? []).map((branch) => branch.do)];
  const at = (child: Activity): Part => partOf(child, `${path}/${child.name}`);
  return {
    path,
    node,
    text: ownText(node),
    children: children.map(at),
    handlers: (node.faultHandlers ?? []).map((handler) => at(handler.do)),
  };
}

function ownText(node: Activity): string {
  const { do: _, children, faultHandlers, undo, branches, ...own } = node as unknown as { readonly [field: string]: unknown };
  const conditions = ((branches ?? []) as { readonly when: unknown }[]).map(({ when }) => when);
  return JSON.stringify([own, conditions]);
}

const everyIn = (part: Part): readonly Part[] => [part, ...[...part.children, ...part.handlers].flatMap(everyIn)];
const isInside = ({ path }: Part, other: Part): boolean => `${other.path}/`.startsWith(`${path}/`) || path.startsWith(`${other.path}/`);

/** Whether the text of an activity without its parts names a value of another one. */
function isRead({ node, path }: Part, reader: Part): boolean {
  const { text } = reader;
  const answers = node.activity === 'step' || node.activity === 'forEach';
  return (
    (answers && text.includes(`"steps.${node.name}"`)) ||
    (node.activity === 'assign' && text.includes(`"vars.${node.variable}"`)) ||
    (node.activity === 'forEach' && reader.path.startsWith(`${path}/`) && text.includes(`"each.${node.name}.item"`))
  );
}

function cross(from: readonly Part[], to: readonly Part[], add: Pairs['add']): void {
  for (const one of from.flatMap(everyIn)) for (const other of to.flatMap(everyIn)) add(one.path, other.path);
}

/** Adds all pairs of which the second may run after the first, from the inside to the outside. */
function follow(part: Part, { add }: Pairs): void {
  const { node, children, handlers } = part;
  for (const each of [...children, ...handlers]) follow(each, { add } as Pairs);
  cross(children, handlers, add);
  for (const [index, child] of children.entries()) {
    if (node.activity === 'sequence') cross([child], children.slice(index + 1), add);
    if (node.activity === 'parallel')
      cross(
        [child],
        children.filter((each) => each !== child),
        add,
      );
  }
  const again = ['while', 'forEach', 'retry'].includes(node.activity) ? [...children, ...handlers] : [];
  cross(again, again, add);
}

/** Adds all pairs of which the second starts only after the first has succeeded, or only after it has failed. */
function hold({ node, children, handlers }: Part, control: Pairs): void {
  for (const each of [...children, ...handlers]) hold(each, control);
  cross(children, handlers, control.add);
  if (node.activity === 'sequence') for (const [index, child] of children.entries()) cross([child], children.slice(index + 1), control.add);
}
