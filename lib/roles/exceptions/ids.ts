/** These ids contain the id of the order. So an exception can be shown, and a task answered, before its record is stored. */
const prefixes = { exception: 'exc_', task: 'tsk_' } as const;
const orderPrefix = 'ord_';

type Kind = keyof typeof prefixes;

const idOf =
  (kind: Kind) =>
  (orderId: string, seq: number): string =>
    `${prefixes[kind]}${orderId.startsWith(orderPrefix) ? orderId.slice(orderPrefix.length) : orderId}_${seq}`;

/** Returns the id of an order's exception: `exc_` with the rest of the order's id, and the number of its cause. */
export const exceptionIdOf = idOf('exception');
export const taskIdOf = idOf('task');

/** Returns the order and the number that an id names; undefined for an id of any other form. */
const placeOf =
  (kind: Kind) =>
  (id: string): { readonly orderId: string; readonly seq: number } | undefined => {
    const [, rest, seq] =
      /^([a-z0-9]{1,64})_([1-9]\d{0,8})$/.exec(id.startsWith(prefixes[kind]) ? id.slice(prefixes[kind].length) : '') ?? [];
    return rest === undefined ? undefined : { orderId: orderPrefix + rest, seq: Number(seq) };
  };

export const exceptionPlaceOf = placeOf('exception');
export const taskPlaceOf = placeOf('task');
