import { outputVariable } from '#core/data/child-order';
import { engineFault, engineFaults } from '#core/data/fault';
import { utf8Bytes } from '#core/data/json';
import { type ActivityBase, limits, type Template } from '#core/definition/definition';
import { type Behavior, close, noChildren, raise, succeeded } from '#core/engine/behavior';

export interface Assign extends ActivityBase {
  readonly activity: 'assign';
  /** The name of the variable, which expressions read as `vars.<variable>`. `$output` is the output of the workflow. */
  readonly variable: string;
  readonly value: Template;
}

/** Sets a variable of the order. */
export const assign: Behavior<Assign, never> = {
  children: noChildren,
  problems: ({ variable }) =>
    variable === outputVariable || /^[A-Za-z_]\w{0,63}$/.test(variable)
      ? []
      : [`"${variable}" is not a valid variable name. Use at most 64 letters, digits and "_", and do not begin with a digit.`],
  templates: ({ value }) => [value],

  execute({ variable, value }, { evaluate }) {
    const evaluated = evaluate(value);
    if (!evaluated.ok) return raise(evaluated.fault);
    const bytes = variable === outputVariable ? utf8Bytes(evaluated.value) : 0;
    if (bytes > limits.orderOutputBytesMax) return raise(outputTooLarge(bytes));

    return { ...close(succeeded()), assign: { [variable]: evaluated.value } };
  },
};

const outputTooLarge = (bytes: number) =>
  engineFault(
    engineFaults.outputTooLarge,
    `The output of the workflow has ${bytes} bytes; the maximum is ${limits.orderOutputBytesMax}. Return a reference to the data instead.`,
  );
