import type { CallerRef, ExceptionRef, OrderRecord } from '#ports/records';
import { recordIn } from '#ports/util/json';

type Links = Pick<OrderRecord, 'restartedFrom' | 'handles' | 'caller'>;

/** Returns the attributes that name other orders: the one that an order replaces, whose exception it handles, or that called it. */
export const linkAttributes = ({ restartedFrom, handles, caller }: Links): { readonly [attribute: string]: string } => ({
  ...(restartedFrom === undefined ? {} : { restartedFrom }),
  ...(handles === undefined ? {} : { handles: JSON.stringify(handles) }),
  ...(caller === undefined ? {} : { caller: JSON.stringify(caller) }),
});

/** Returns the links to other orders that the attributes hold; throws UnreadableRecordError. */
export const linksIn = (orderId: string, { restartedFrom, handles, caller }: { readonly [attribute: string]: unknown }): Links => ({
  ...(restartedFrom === undefined ? {} : { restartedFrom: String(restartedFrom) }),
  ...(handles === undefined ? {} : { handles: recordIn<ExceptionRef>(orderId, String(handles)) }),
  ...(caller === undefined ? {} : { caller: recordIn<CallerRef>(orderId, String(caller)) }),
});
