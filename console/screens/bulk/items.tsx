import { useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { usePages } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { BulkItem, BulkRun } from '../../api/types.ts';
import { Chip } from '../../parts/chip.tsx';
import type { IconName } from '../../parts/icons.ts';
import { OrderId } from '../../parts/order-id.tsx';
import { Empty, Skeleton } from '../../parts/states.tsx';
import { At, Said } from '../../parts/text.tsx';
import { orderLink } from '../../router.ts';
import { dealtWith, failuresOf, leftWord } from './text.tsx';

interface Shown {
  readonly word: string;
  readonly tone: 'ok' | 'work' | 'off' | 'stop' | 'warn';
  readonly icon: IconName;
  readonly why: string;
}

/** Returns why an instruction did not help: the fault of the order as it is now. */
function whyNot({ now }: BulkItem): string {
  if (!now) return '';
  const { fault, processState, outcome } = now;
  if (fault) return `${fault.type}: ${fault.message}`;
  return processState === 'Processed' ? `The order has ended since then: ${outcome}.` : 'The order has gone on since then.';
}

function shownOf(item: BulkItem, state: BulkRun['state']): Shown {
  const { outcome, verified, refusals } = item;
  const why = refusals?.map(({ code, detail }) => `${code}: ${detail}`).join(' ') ?? '';
  if (outcome === 'infeasible') return { word: 'not possible', tone: 'off', icon: 'cancel', why };
  if (outcome === 'refused') return { word: 'refused', tone: 'warn', icon: 'lock', why };
  if (outcome === 'moved-on')
    return {
      word: 'moved on',
      tone: 'off',
      icon: 'skip',
      why: why || 'the order no longer has the exception that it had when the set was frozen',
    };
  if (outcome === 'failed')
    return { word: 'no answer', tone: 'stop', icon: 'stop', why: why || 'the order could not be changed in five tries' };
  if (outcome === 'left') return { word: leftWord(state), tone: 'off', icon: 'idle', why: '' };
  if (verified === 'failed-again') return { word: 'failed again', tone: 'stop', icon: 'stop', why: whyNot(item) };
  if (verified === 'failed-otherwise') return { word: 'failed for another reason', tone: 'warn', icon: 'stop', why: whyNot(item) };
  if (verified === 'running') return { word: 'not yet known', tone: 'work', icon: 'work', why: '' };
  return { word: verified === 'passed' ? 'passed' : 'applied', tone: 'ok', icon: 'done', why: '' };
}

const isFailed = ({ verified }: BulkItem): boolean => verified === 'failed-again' || verified === 'failed-otherwise';

/** Whether an order failed or did not get the instruction. Orders that are still to do (`left`) count only once the run is stopped. */
const isFailedOrLeftOut = (item: BulkItem, state: BulkRun['state']): boolean =>
  item.outcome === 'left' ? state === 'stopped' : item.outcome !== 'applied' || isFailed(item);

/** Returns the name of the first tab and its number of orders. */
function firstTabOf({ state, infeasible, refused, movedOn, failed, left, verified }: BulkRun): readonly [string, number] {
  const count = infeasible + refused + movedOn + failed + failuresOf(verified);
  return state === 'stopped' ? ['Failed or not sent', count + left] : ['Failed or left out', count];
}

/** The orders of a run: those that failed or did not get the instruction, until the person chooses all. */
export function Items({ run }: { run: BulkRun }) {
  const [isAll, setAll] = useState(false);
  const items = usePages<BulkItem>(
    run.state === 'preparing' ? undefined : apiPath(`/bulk/${run.id}/items`, { limit: 100 }),
    ({ orderId }) => orderId,
    4_000,
  );
  const shown = isAll ? items.items : items.items.filter((item) => isFailedOrLeftOut(item, run.state));
  const { verified } = run;
  const [firstTab, firstTabCount] = firstTabOf(run);
  const isOver = run.state === 'done' && verified.running === 0 && !items.hasMore;
  return (
    <section class="panel" aria-label="Orders">
      <header>
        <h2>{isAll ? 'All orders' : 'What did not pass'}</h2>
        <span class="seg end">
          <button type="button" aria-pressed={!isAll} onClick={() => setAll(false)}>
            {`${firstTab} ${firstTabCount.toLocaleString('en')}`}
          </button>
          <button type="button" aria-pressed={isAll} onClick={() => setAll(true)}>
            {`All ${run.count}`}
          </button>
        </span>
      </header>
      {shown.length === 0 && !isAll && firstTabCount > 0 ? (
        <Skeleton rows={2} />
      ) : shown.length === 0 ? (
        <Empty
          title={
            isAll
              ? 'The orders are being checked.'
              : dealtWith(run) === 0
                ? 'Nothing has been sent yet.'
                : isOver
                  ? `Every order ${verified.passed === run.count ? 'passed' : 'has the instruction'}.`
                  : `Nothing has failed so far: ${dealtWith(run).toLocaleString('en')} of ${run.count.toLocaleString('en')} dealt with.`
          }
          icon={isOver ? 'done' : 'idle'}
        />
      ) : (
        <table class="list">
          <thead>
            <tr>
              <th>Order</th>
              <th>Outcome</th>
              <th>Why</th>
              <th class="num">At</th>
              <th>
                <span class="vh">Decision</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((item) => (
              <Row key={item.orderId} item={item} state={run.state} />
            ))}
          </tbody>
        </table>
      )}
      {items.hasMore && (
        <footer class="row between">
          <span>{`Looked at ${items.items.length} of ${run.count} orders.`}</span>
          <button class="btn bare sm" type="button" disabled={items.loading} onClick={items.more}>
            Look further
          </button>
        </footer>
      )}
    </section>
  );
}

function Row({ item, state }: { item: BulkItem; state: BulkRun['state'] }) {
  const { orderId, reference, at } = item;
  const { word, tone, icon, why } = shownOf(item, state);
  return (
    <tr>
      <td class="fit">
        <OrderId orderId={orderId} reference={reference} />
      </td>
      <td class="fit">
        <Chip tone={tone} icon={icon} tinted={tone !== 'ok' && tone !== 'work'}>
          {word}
        </Chip>
      </td>
      <td class="soft why-not">{why !== '' && <Said>{why}</Said>}</td>
      <td class="fit num soft">{at !== undefined && <At at={at} />}</td>
      <td class="fit">
        <Decision item={item} />
      </td>
    </tr>
  );
}

/** Leads from a failed order to what a person can do about it. */
function Decision({ item }: { item: BulkItem }) {
  const { orderId, now } = item;
  if (!isFailed(item) || !now?.fault || !has('operator')) return null;
  if (now.processState !== 'Error') return <a href={orderLink(orderId)}>Decide…</a>;
  return now.fault.type === 'OperatorAsked' ? (
    <a href={orderLink(orderId, { do: 'resubmit' })}>Answer…</a>
  ) : (
    <a href={orderLink(orderId, { do: 'replace-input' })}>Correct…</a>
  );
}
