import { asks } from './core/definition.ts';
import { nodeAt, type Program } from './core/program.ts';
import { secretPointers, secretTexts } from './core/secrets.ts';
import type { Loaded } from './planned.ts';

/** Fields of the order and of what its steps answered that nobody may see, as texts: services like to quote what they were sent. */
export const secretsOf = ({ program, order, instance }: Loaded): readonly string[] => [
  ...secretTexts(order.body, secretPointers(program.definition.order)),
  ...Object.entries(instance.state.outputs).flatMap(([path, output]) => secretTexts(output, secretOutputAt(program, path))),
];

export const secretOutputAt = (program: Program, path: string): readonly string[] => {
  const node = nodeAt(program, path);
  return asks(node) ? (node.secretOutput ?? []) : [];
};
