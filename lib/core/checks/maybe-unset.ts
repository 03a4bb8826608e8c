import { aroundOf, type Placed } from './tree.ts';

/**
 * Why a step need not have run when another activity reads its output; `whatever`: it can't be read there at all. `inTurn`: it
 * is read at the end of a turn of the reader.
 */
export function whyUncertain(step: Placed, reader: Placed, inTurn: boolean): { readonly why: string; readonly whatever: boolean } {
  const readers = [reader, ...aroundOf(reader)];
  const outside = [...aroundOf(step)].filter((each) => !readers.includes(each));
  const loop = outside.find(({ node }) => node.activity === 'forEach' || node.activity === 'while');
  if (loop) return { why: `it is inside the loop ${loop.path}, and nobody outside of a turn sees what was answered there`, whatever: true };
  if (inTurn && [...aroundOf(step)].includes(reader)) return { why: 'a turn may end without it', whatever: false };
  if ([...aroundOf(step)].includes(reader)) return { why: `it is inside ${reader.path}, which is asked this before`, whatever: false };
  if (step === reader) return { why: 'it is what reads it', whatever: true };
  if (readers.includes(step)) return { why: insideOf(step, readers), whatever: true };

  const together = readers.find((each) => [...aroundOf(step)].includes(each));
  if (!together) return { why: 'it comes later', whatever: false };
  return { why: whyApart(together, step, reader, outside), whatever: isBeside(together, step, reader) };
}

const insideOf = (loop: Placed, readers: readonly Placed[]): string =>
  readers.some(({ part, around }) => part === 'handler' && around === loop)
    ? 'a handler of it runs where it failed'
    : 'this is inside of it, and its list is there once it is complete';

function whyApart(together: Placed, step: Placed, reader: Placed, outside: readonly Placed[]): string {
  const ofReader = partOf(together, reader);
  const ofStep = partOf(together, step);
  if (ofReader?.part === 'handler') return `a handler of ${together.path} runs wherever that failed`;
  if (ofStep?.part === 'handler') return `it is in a handler of ${together.path}`;
  if (ofReader && (together.node.activity === 'parallel' || together.node.activity === 'choice'))
    return `it is in another branch of ${together.path}`;

  const choice = outside.find(({ node }) => node.activity === 'choice');
  if (choice && comesBefore(together, ofStep, ofReader)) return `it is in a branch of ${choice.path} that need not be gone`;
  const handling = outside.find(({ node }) => node.faultHandlers);
  if (handling && comesBefore(together, ofStep, ofReader)) return `a handler of ${handling.path} may have taken over`;
  return 'it comes later';
}

/** Its answer may come at any moment: two requests of the reader would differ under one key. */
const isBeside = (together: Placed, step: Placed, reader: Placed): boolean =>
  together.node.activity === 'parallel' && partOf(together, step)?.part === 'child' && partOf(together, reader)?.part === 'child';

const partOf = (together: Placed, placed: Placed): Placed | undefined =>
  [placed, ...aroundOf(placed)].find(({ around }) => around === together);

const comesBefore = ({ inside }: Placed, one: Placed | undefined, other: Placed | undefined): boolean =>
  one !== undefined && other !== undefined && inside.indexOf(one) < inside.indexOf(other);
