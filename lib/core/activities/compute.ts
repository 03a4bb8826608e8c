import { engineFault, engineFaults } from '#core/data/fault';
import type { ActivityBase, Template } from '#core/definition/definition';
import { functionOf, compute as run } from '#core/definition/functions';
import { type Behavior, close, noChildren, raise, succeeded } from '#core/engine/behavior';
import { refusedOutput } from '#core/engine/step-replies';

export interface Compute extends ActivityBase {
  readonly activity: 'compute';
  /** A function of the app, with its version: `quote@1`. */
  readonly function: string;
  readonly input: Template;
}

/** Runs a pure function of the app inside the transition. Expressions read the returned value as `steps.<name>`. */
export const compute: Behavior<Compute, never> = {
  children: noChildren,
  answers: true,
  problems: ({ function: name }) =>
    functionOf(name) ? [] : [`Unknown function "${name}". Define it with compute(…) in a module that the app imports.`],
  templates: ({ input }) => [input],

  execute({ function: name, input }, { evaluate }) {
    const filled = evaluate(input);
    if (!filled.ok) return raise(filled.fault);
    const computed = run(name, filled.value);
    if (!computed.ok) return raise(engineFault(engineFaults.computeFailed, computed.message));

    const tooLarge = refusedOutput(computed.value);
    return tooLarge ? raise({ ...tooLarge, outcomeUnknown: false }) : close(succeeded(computed.value));
  },
};
