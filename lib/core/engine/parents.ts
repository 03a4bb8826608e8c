/** The index from each activity to its children, for which it waits. It is updated in place, because one event may cancel a thousand branches. */
export class ChildIndex {
  private readonly children = new Map<string, Set<string>>();

  constructor(paths: readonly string[], waiterFor: (path: string) => string | undefined) {
    for (const path of paths) this.add(path, waiterFor(path));
  }

  add(path: string, waiter: string | undefined): void {
    if (waiter === undefined) return;
    const known = this.children.get(waiter);
    if (known) known.add(path);
    else this.children.set(waiter, new Set([path]));
  }

  remove(path: string, waiter: string | undefined): void {
    this.children.get(waiter ?? '')?.delete(path);
  }

  childrenOf(waiter: string): readonly string[] {
    return [...(this.children.get(waiter) ?? [])];
  }

  hasChildren(waiter: string): boolean {
    return (this.children.get(waiter)?.size ?? 0) > 0;
  }
}
