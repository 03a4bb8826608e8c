declare const faults: unique symbol;
const recorded = Symbol('recorded activity');

/** An activity in the making. F is the union of the faults that can still leave it. */
export interface Activity<out F extends string> {
  readonly [faults]?: F;
  /** The same under another name. Siblings need different ones. */
  named(name: string): this;
}

export type FaultsOf<A> = A extends Activity<infer F> ? F : never;

/** What an activity leaves behind: one node of the definition. */
export interface Shape {
  readonly activity: string;
  readonly name: string;
  readonly [key: string]: unknown;
}

interface Recorded {
  readonly shape: Shape;
  /** Its name was chosen, or expressions say it: nobody changes it afterwards. */
  readonly fixed: boolean;
}

/** An activity that records a shape, with whatever else can be said of it. */
export const record = <M extends object>(shape: Shape, fixed: boolean, members: M): M =>
  Object.assign({ [recorded]: { shape, fixed }, toJSON: () => shape }, members);

/** What an activity has recorded. */
export const recordedIn = (activity: Activity<string>): Recorded => {
  const found = (activity as { readonly [recorded]?: Recorded })[recorded];
  if (!found) throw new TypeError('An activity is wanted here: a step such as payment.charge({…}), sequence(…), parallel(…) or delay(…).');
  return found;
};

/** An activity with none inside it. */
export const leaf = <F extends string>(shape: Shape, fixed = false): Activity<F> =>
  record(shape, fixed, { named: (name: string) => leaf({ ...shape, name }, true) }) as Activity<F>;

/** Names of siblings: where those that name themselves would be alike, the later ones get a number. */
export const distinct = (children: readonly Activity<string>[]): readonly Shape[] => {
  const all = children.map(recordedIn);
  const taken = new Set(all.filter(({ fixed }) => fixed).map(({ shape }) => shape.name));
  return all.map(({ shape, fixed }) => {
    if (fixed) return shape;
    let name = shape.name;
    for (let number = 2; taken.has(name); number++) name = `${shape.name}-${number}`;
    taken.add(name);
    return { ...shape, name };
  });
};
