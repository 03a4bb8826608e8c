import { useOrderFacts } from '../api/order-facts.ts';
import { orderLink } from '../router.ts';
import { Said, shortId } from './text.tsx';

/** The id of an order as a link, with the reference of the client beside it. */
export const OrderId = ({ orderId, stamp }: { orderId: string; stamp?: string | undefined }) => (
  <>
    <a class="id" href={orderLink(orderId)}>
      {shortId(orderId)}
    </a>
    <Reference orderId={orderId} stamp={stamp} />
  </>
);

/** The reference that the client gave to an order; nothing if it gave none. */
export function Reference({ orderId, stamp }: { orderId: string; stamp?: string | undefined }) {
  const reference = useOrderFacts(orderId, stamp)?.reference ?? null;
  return reference === null ? null : (
    <span class="beside">
      <Said>{reference}</Said>
    </span>
  );
}
