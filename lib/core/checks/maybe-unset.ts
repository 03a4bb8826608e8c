import { aroundOf, type Placed } from './tree.ts';

/**
 * Returns why a step may not have run when another activity reads its output. `evenOptional`: not even an optional read
 * (`.?`) is allowed there. `inTurn`: the reader reads the output at the end of a turn.
 */
export function whyUncertain(step: Placed, reader: Placed, inTurn: boolean): { readonly why: string; readonly evenOptional: boolean } {
  const readers = [reader, ...aroundOf(reader)];
  const outside = [...aroundOf(step)].filter((each) => !readers.includes(each));
  const loop = outside.find(({ node }) => node.activity === 'forEach' || node.activity === 'while');
  if (loop) return { why: `it is inside the loop ${loop.path}, and its output is not visible outside of a turn`, evenOptional: true };
  if (inTurn && [...aroundOf(step)].includes(reader)) return { why: 'a turn may end without it', evenOptional: false };
  if ([...aroundOf(step)].includes(reader))
    return { why: `it is inside ${reader.path}, which evaluates this expression first`, evenOptional: false };
  if (step === reader) return { why: 'it reads its own output', evenOptional: true };
  if (readers.includes(step)) return { why: insideOf(step, readers), evenOptional: true };

  const together = readers.find((each) => [...aroundOf(step)].includes(each));
  if (!together) return { why: 'it comes later', evenOptional: false };
  return { why: whyApart(together, step, reader, outside), evenOptional: isBeside(together, step, reader) };
}

const insideOf = (loop: Placed, readers: readonly Placed[]): string =>
  readers.some(({ part, around }) => part === 'handler' && around === loop)
    ? 'a handler of that loop runs after the loop has failed'
    : 'the collected list exists only after that loop is complete';

function whyApart(together: Placed, step: Placed, reader: Placed, outside: readonly Placed[]): string {
  const ofReader = partOf(together, reader);
  const ofStep = partOf(together, step);
  if (ofReader?.part === 'handler') return `a handler of ${together.path} runs after a failure at any point`;
  if (ofStep?.part === 'handler') return `it is in a handler of ${together.path}`;
  if (ofReader && (together.node.activity === 'parallel' || together.node.activity === 'choice'))
    return `it is in another branch of ${together.path}`;

  const choice = outside.find(({ node }) => node.activity === 'choice');
  if (choice && comesBefore(together, ofStep, ofReader)) return `it is in a branch of ${choice.path} that may not be taken`;
  const handling = outside.find(({ node }) => node.faultHandlers);
  if (handling && comesBefore(together, ofStep, ofReader)) return `a handler of ${handling.path} may have taken over`;
  return 'it comes later';
}

/**
 * Whether the step and the reader run in different branches of this parallel activity. The step's output may come at any
 * moment, so two requests of the reader could differ under one key.
 */
const isBeside = (together: Placed, step: Placed, reader: Placed): boolean =>
  together.node.activity === 'parallel' && partOf(together, step)?.part === 'child' && partOf(together, reader)?.part === 'child';

const partOf = (together: Placed, placed: Placed): Placed | undefined =>
  [placed, ...aroundOf(placed)].find(({ around }) => around === together);

const comesBefore = ({ inside }: Placed, one: Placed | undefined, other: Placed | undefined): boolean =>
  one !== undefined && other !== undefined && inside.indexOf(one) < inside.indexOf(other);
