/**
 * The names that are certainly set at one point of a definition: `steps.charge`, `vars.left`. They include the names of an earlier point,
 * `before`.
 */
export class Certain {
  /** Whether this point is unreachable: a fault was raised, or the order has ended. */
  isUnreachable = false;
  private readonly names = new Set<string>();
  private readonly before: Certain | undefined;

  constructor(before?: Certain) {
    this.before = before;
  }

  has(name: string): boolean {
    for (let at: Certain | undefined = this; at; at = at.before) if (at.names.has(name)) return true;
    return false;
  }

  add(name: string): void {
    this.names.add(name);
  }

  /** Returns the start of one of several branches. */
  fork(): Certain {
    return new Certain(this);
  }

  /** Adds the names of branches that have all run. */
  addAll(ways: readonly Certain[]): void {
    for (const { names, isUnreachable } of ways) {
      for (const name of names) this.names.add(name);
      if (isUnreachable) this.isUnreachable = true;
    }
  }

  /** Adds the names common to all branches with a reachable end, because only one branch has run. */
  addCommon(ways: readonly Certain[]): void {
    const [first, ...others] = ways.filter(({ isUnreachable }) => !isUnreachable);
    if (!first) this.isUnreachable = true;
    else for (const name of first.names) if (others.every(({ names }) => names.has(name))) this.names.add(name);
  }
}
