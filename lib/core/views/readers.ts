import { behaviorOf } from '#core/activities/index';
import { parseExpression } from '#core/definition/expression';
import { expressionsIn, isOfOutput, type Program } from '#core/definition/program';
import { undoneBy } from '#core/engine/replay';

/** Returns the paths of the activities, undos included, whose expressions read the output of the step with this name. */
export const readersOf = (program: Program, name: string): readonly string[] =>
  [...program.nodes].flatMap(([path, node]) =>
    behaviorOf(node.activity)
      .templates(node)
      .some(
        (template) =>
          !(node.name === name && isOfOutput(node, template)) && [...expressionsIn(template)].some(({ text }) => reads(text, name)),
      )
      ? [path]
      : [],
  );

/** Whether a reader is the undo of the step at this path. */
export const isOwnUndo = (program: Program, reader: string, path: string): boolean => undoneBy(program, reader) === path;

function reads(text: string, name: string): boolean {
  const parsed = parseExpression(text);
  return parsed.ok && parsed.expression.steps.some((step) => step.name === name);
}
