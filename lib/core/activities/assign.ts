import type { ActivityBase, Template } from '#core/definition/definition';
import { type Behavior, close, raise, succeeded } from '#core/engine/behavior';

export interface Assign extends ActivityBase {
  readonly activity: 'assign';
  /** The name under which expressions read it: `vars.<variable>`. */
  readonly variable: string;
  readonly value: Template;
}

/** Sets a variable of the order. */
export const assign: Behavior<Assign, never> = {
  children: () => [],
  problems: ({ variable }) =>
    /^[A-Za-z_]\w{0,63}$/.test(variable)
      ? []
      : [`"${variable}" is not a valid variable name. Use at most 64 letters, digits and "_", and do not begin with a digit.`],
  templates: ({ value }) => [value],

  execute({ variable, value }, { evaluate }) {
    const evaluated = evaluate(value);
    if (!evaluated.ok) return raise(evaluated.fault);

    return { ...close(succeeded()), assign: { [variable]: evaluated.value } };
  },
};
