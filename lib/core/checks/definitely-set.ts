/**
 * What is certain to have been done by some point of a definition, on top of what was before: `steps.charge`,
 * `vars.left`.
 */
export class Certain {
  /** Nobody gets here: a fault was raised, or the order was ended. */
  never = false;
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

  /** What happens in one way of several that go on from here. */
  fork(): Certain {
    return new Certain(this);
  }

  /** All of these ways were gone. */
  addAll(ways: readonly Certain[]): void {
    for (const { names, never } of ways) {
      for (const name of names) this.names.add(name);
      if (never) this.never = true;
    }
  }

  /** One of these ways was gone, and nobody knows which. */
  addCommon(ways: readonly Certain[]): void {
    const [first, ...others] = ways.filter(({ never }) => !never);
    if (!first) this.never = true;
    else for (const name of first.names) if (others.every(({ names }) => names.has(name))) this.names.add(name);
  }
}
