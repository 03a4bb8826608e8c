import fc from 'fast-check';
import type { Activity } from '#core/definition/definition';

/** The shape of a random workflow: each leaf reads values of others, by numbers. */
interface Leaf {
  readonly kind: 'step' | 'assign';
  readonly reads: readonly number[];
}
type Shape =
  | Leaf
  | {
      readonly kind: 'sequence' | 'parallel' | 'choice';
      readonly parts: readonly Shape[];
      readonly reads: readonly number[];
      readonly handler: Shape | null;
    }
  | {
      readonly kind: 'scope' | 'retry' | 'while' | 'forEach';
      readonly part: Shape;
      readonly reads: readonly number[];
      readonly handler: Shape | null;
    };

const reads = fc.array(fc.nat(30), { maxLength: 2 });
const { tree } = fc.letrec<{ tree: Shape; leaf: Shape; many: Shape; one: Shape }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4, withCrossShrink: true }, tie('leaf'), tie('many'), tie('one')),
  leaf: fc.record({ kind: fc.constantFrom('step', 'assign'), reads }) as fc.Arbitrary<Shape>,
  many: fc.record({
    kind: fc.constantFrom('sequence', 'parallel', 'choice'),
    parts: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    reads,
    handler: fc.option(tie('leaf')),
  }) as fc.Arbitrary<Shape>,
  one: fc.record({
    kind: fc.constantFrom('scope', 'retry', 'while', 'forEach'),
    part: tie('tree'),
    reads,
    handler: fc.option(tie('leaf')),
  }) as fc.Arbitrary<Shape>,
}));

/** Random workflows of up to about thirty activities, whose expressions read outputs, variables and entries of loops anywhere. */
export const trees: fc.Arbitrary<Activity> = fc.array(tree, { minLength: 2, maxLength: 4 }).map((parts) => {
  let count = 0;
  const named = (shape: Shape): Activity => {
    const number = count++;
    const name = `n${number}`;
    const value = { list: shape.reads.map((read) => ({ $cel: expression(read) })) };
    if (isLeaf(shape) && shape.kind === 'step')
      return { activity: 'step', name, agent: 'a', operation: 'o', input: value, undo: { ...undo, input: { $cel: `steps.${name}` } } };
    if (isLeaf(shape)) return { activity: 'assign', name, variable: `v${number % 4}`, value };
    const children = 'parts' in shape ? shape.parts.map(named) : [named(shape.part)];
    const [only = undo] = children;
    const faultHandlers = shape.handler ? [{ fault: 'F', do: named(shape.handler) }] : [];
    const common = { name, faultHandlers };
    switch (shape.kind) {
      case 'sequence':
      case 'parallel':
        return { ...common, activity: shape.kind, children };
      case 'choice':
        return { ...common, activity: 'choice', branches: children.map((each) => ({ when: value, do: each })) };
      case 'scope':
        return { ...common, activity: 'scope', do: only };
      case 'retry':
        return { ...common, activity: 'retry', do: only, retries: 1, intervalSeconds: 1 };
      case 'while':
        return { ...common, activity: 'while', condition: value, do: only };
      case 'forEach':
        return { ...common, activity: 'forEach', list: value, do: only, collect: { $cel: `steps.n${number + 1}` } };
    }
  };
  return { activity: 'sequence', name: 'order', children: parts.map(named) };
});

const isLeaf = (shape: Shape): shape is Leaf => shape.kind === 'step' || shape.kind === 'assign';

const undo = { activity: 'step', name: 'undo', agent: 'a', operation: 'undo', input: null } as const;

/** Reads an output, a variable or an entry of a loop. Names that do not exist are read, too. */
const expression = (read: number): string => {
  if (read % 5 === 4) return `vars.v${read % 4}`;
  return read % 5 === 3 ? `each.n${read}.item` : `steps.n${read}`;
};
