import type { Order } from '../../api/types.ts';
import { Panel } from '../../parts/states.tsx';
import { At, counted, Said, stepName } from '../../parts/text.tsx';
import { orderLink } from '../../router.ts';

type Masked = NonNullable<Order['maskedFaults']>;

/** The faults that made no exception, because their scope was being recovered. */
export const MaskedFaults = ({ orderId, masked: { count, newest } }: { orderId: string; masked: Masked }) => (
  <Panel title="Masked by a recovery" aside={counted(count, 'fault')}>
    <ul class="body stack">
      {newest.map(({ at, path, type, message, maskedBy }) => (
        <li key={`${at}${path}${type}`}>
          <b>{type}</b>
          {path !== null && ` at ${stepName(path)}`}, <At at={at} />, while {stepName(maskedBy)} was recovered
          <div class="soft">
            <Said lines>{message}</Said>
          </div>
        </li>
      ))}
    </ul>
    {count > newest.length && (
      <footer>
        <a href={orderLink(orderId, { tab: 'History' })}>The history has all of them</a>
      </footer>
    )}
  </Panel>
);
