/** The edges of a graph, as a function: it returns the nodes that depend directly on a node. */
export type Edges = (node: string) => readonly string[];

/** Returns a node with everything that can be reached from it. */
export function closureOf(start: string, edges: Edges): ReadonlySet<string> {
  const reached = new Set([start]);
  // A set goes on with the entries that are added while it is iterated.
  for (const node of reached) for (const next of edges(node)) reached.add(next);
  return reached;
}

/** Returns the same edges, each computed once. */
export function remembered(edges: Edges): Edges {
  const known = new Map<string, readonly string[]>();
  return (node) => {
    const next = known.get(node) ?? edges(node);
    known.set(node, next);
    return next;
  };
}
