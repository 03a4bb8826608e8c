import { type FaultDetails, isTransient } from '#core/data/fault';
import type { ActivityBase, Template } from '#core/definition/definition';
import { type Behavior, noChildren, raise as raiseFault } from '#core/engine/behavior';

export interface Raise extends ActivityBase, FaultDetails {
  readonly activity: 'raise';
  /** The type with its ancestors: `Refused/CardDeclined`. */
  readonly fault: string;
  readonly message: Template;
  readonly data?: Template;
}

/** Raises a fault of a given type (WF: Throw). */
export const raise: Behavior<Raise, never> = {
  children: noChildren,
  problems: ({ fault }) =>
    typeof fault === 'string' && fault !== '' ? [] : ['The field "fault" must name a fault type, such as "Refused/CardDeclined".'],
  templates: ({ message, data }) => [message, ...(data === undefined ? [] : [data])],

  execute({ fault, message, data, tags, groupBy }, { evaluate }) {
    const text = evaluate(message);
    if (!text.ok) return raiseFault(text.fault);
    const more = data === undefined ? undefined : evaluate(data);
    if (more && !more.ok) return raiseFault(more.fault);

    return raiseFault({
      type: fault,
      class: 'expected',
      permanent: !isTransient(fault),
      message: typeof text.value === 'string' ? text.value : JSON.stringify(text.value),
      ...(more ? { data: more.value } : {}),
      ...(tags ? { tags } : {}),
      ...(groupBy ? { groupBy } : {}),
    });
  },
};
