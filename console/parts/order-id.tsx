import { orderLink } from '../router.ts';
import { Said, shortId } from './text.tsx';

interface Named {
  readonly orderId: string;
  readonly reference?: string | undefined;
}

/** The id of an order as a link, with the client's reference for the order beside it. */
export const OrderId = ({ orderId, reference }: Named) => (
  <>
    <a class="id" href={orderLink(orderId)}>
      {shortId(orderId)}
    </a>
    <Reference reference={reference} />
  </>
);

/** The reference that the client gave to an order; nothing if it gave none. */
export const Reference = ({ reference }: Pick<Named, 'reference'>) =>
  reference === undefined ? null : (
    <span class="beside">
      <Said>{reference}</Said>
    </span>
  );
