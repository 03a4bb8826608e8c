import { useMemo } from 'preact/hooks';
import { apiPath } from '../api/client.ts';
import type { Pages } from '../api/poll.ts';
import { type SteadyPages, useSteadyPages } from '../api/steady.ts';
import type { ListedOrder } from '../api/types.ts';
import { OrderState } from '../parts/chip.tsx';
import { Icon } from '../parts/icon.tsx';
import { useKeys } from '../parts/keys.ts';
import { Empty, Loaded, PageHead } from '../parts/states.tsx';
import { Ago, At, Countdown, Said, shortId, stepName } from '../parts/text.tsx';
import { copy } from '../parts/toast.tsx';
import { type Selection, useSelection } from '../parts/use-selection.ts';
import { WaitingRows } from '../parts/waiting-rows.tsx';
import { href, orderLink, place, queried, setQuery } from '../router.ts';
import { now } from '../time.ts';
import { OrderScreen } from './orders/order.tsx';
import { SelectionBar } from './orders/selection.tsx';

const states = ['', 'Pending', 'Processing', 'Error', 'Processed'] as const;
const filters = ['workflow', 'fault', 'client', 'reference'] as const;
/** Ages of orders to choose from, in hours. */
const ages = [
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last week'],
] as const;
const filterNames = [...filters, 'hours'] as const;

/** Returns the time before which orders are too old: `hours` ago, rounded down to a minute. */
function submittedAfter(hours: string): string | undefined {
  if (!ages.some(([each]) => each === hours)) return undefined;
  return new Date(Math.floor((now.peek() - Number(hours) * 3_600_000) / 60_000) * 60_000).toISOString();
}

/** The list of orders, or one order. */
export default function Orders() {
  const orderId = place.value.parts[1];
  return orderId === undefined ? <OrderList /> : <OrderScreen key={orderId} orderId={orderId} />;
}

function OrderList() {
  const state = queried('state');
  const given = filterNames.filter((name) => queried(name) !== '');
  const query = Object.fromEntries(given.map((name) => [name, queried(name)]));
  const { hours, ...exact } = query;
  const path = apiPath('/orders', { state, ...exact, submittedAfter: useMemo(() => submittedAfter(hours ?? ''), [hours]), limit: 50 });
  const orders = useSteadyPages<ListedOrder>(path, ({ orderId }) => orderId);
  const selection = useSelection(
    orders.items.map(({ orderId }) => orderId),
    orders.items.map(({ orderId }) => `/orders/${orderId}`),
  );
  useKeys([{ key: 'l', what: 'Load older orders', run: orders.more }], [orders.more]);
  return (
    <>
      <PageHead title="Orders">
        <button class="btn bare" type="button" onClick={() => copy(location.href, 'the address of this view')}>
          <Icon name="copy" />
          Copy view
        </button>
      </PageHead>
      <div class="panel">
        <nav class="tabs" aria-label="State">
          {states.map((each) => (
            <a key={each} href={href('/orders', { ...query, state: each })} aria-current={each === state ? 'true' : undefined}>
              {each === '' ? 'All' : each}
            </a>
          ))}
        </nav>
        <Filters list={orders} />
        <Loaded polled={orders} what="The orders" rows={10}>
          {() =>
            orders.items.length === 0 ? (
              <Empty title={orders.hasMore ? 'No order matches so far.' : 'No order matches.'}>
                {given.length > 0 && (
                  <a class="btn" href={href('/orders', { state })}>
                    Remove the filters
                  </a>
                )}
                {given.length === 0 && <p>Orders appear here as soon as clients submit them.</p>}
              </Empty>
            ) : (
              <Table orders={orders.items} selection={selection} />
            )
          }
        </Loaded>
        {orders.data && <Foot orders={orders} />}
      </div>
      <SelectionBar selection={selection} orders={orders.items} matching={{ ...query, state }} />
    </>
  );
}

const Filters = ({ list }: { list: SteadyPages<ListedOrder> }) => (
  <div class="bar">
    <div class="filters">
      {filters.map((name) => (
        <label class="filter" key={name}>
          <span class="muted">{name}</span>
          <input
            class="filter-value"
            value={queried(name)}
            placeholder="any"
            onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim() })}
          />
        </label>
      ))}
      <label class="filter">
        <span class="muted">submitted</span>
        <select class="filter-value" value={queried('hours')} onChange={({ currentTarget }) => setQuery({ hours: currentTarget.value })}>
          <option value="">at any time</option>
          {ages.map(([hours, name]) => (
            <option key={hours} value={hours}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
    <span class="end">
      <WaitingRows list={list} />
    </span>
  </div>
);

const Foot = ({ orders: { items, hasMore, loading, more } }: { orders: Pages<ListedOrder> }) => (
  <footer class="row between">
    <span>{hasMore ? `The newest ${items.length} that match` : `All ${items.length} that match`}</span>
    {hasMore && (
      <button class="btn bare sm" type="button" disabled={loading} onClick={more}>
        Load older <kbd>l</kbd>
      </button>
    )}
  </footer>
);

function Table({ orders, selection }: { orders: readonly ListedOrder[]; selection: Selection }) {
  const { chosen, toggle, rows } = selection;
  return (
    <table class="list" {...rows.table}>
      <thead>
        <tr>
          <th>
            <span class="vh">Select</span>
          </th>
          {['Order', 'Reference', 'Workflow', 'Client', 'State', 'Why'].map((head) => (
            <th key={head}>{head}</th>
          ))}
          <th class="num">Changed</th>
          <th class="num">Submitted</th>
        </tr>
      </thead>
      <tbody>
        {orders.map((order, index) => (
          <tr key={order.orderId} class={`${chosen.has(order.orderId) ? 'on' : ''} ${rows.at === index ? 'cursor' : ''}`}>
            <td class="fit">
              <input
                class="box"
                type="checkbox"
                aria-label={`Select ${shortId(order.orderId)}`}
                checked={chosen.has(order.orderId)}
                onChange={() => toggle(order.orderId)}
              />
            </td>
            <td class="fit">
              <a class="id" href={orderLink(order.orderId)}>
                {shortId(order.orderId)}
              </a>
            </td>
            <td class="fit reference">{order.reference !== null && <Said>{order.reference}</Said>}</td>
            <td class="fit soft">{`${order.workflow.name}@${order.workflow.version}`}</td>
            <td class="fit soft lo">
              <Said>{order.client}</Said>
            </td>
            <td class="fit">
              <OrderState order={order} />
            </td>
            <td>
              <Why order={order} />
            </td>
            <td class="fit num soft" data-l="changed">
              <Ago at={order.updatedAt} />
            </td>
            <td class="fit num soft lo">
              <Ago at={order.submittedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Why({ order: { fault, processState, suspended, completeBy, waitsFor } }: { order: ListedOrder }) {
  if (fault)
    return (
      <>
        {`${fault.type}${fault.source === null ? '' : ` at ${stepName(fault.source)}`} `}
        <span class="muted">
          <Said>{fault.message}</Said>
        </span>
      </>
    );
  if (waitsFor?.kind === 'undo')
    return <>{`${waitsFor.path === null ? 'an undo' : `the undo of ${stepName(waitsFor.path)}`} keeps failing`}</>;
  if (processState === 'Pending') return <span class="muted">no scheduler has claimed it yet</span>;
  if (suspended) return <span class="muted">its time stands still</span>;
  if (processState === 'Processed' || completeBy === null) return null;
  return (
    <>
      by <At at={completeBy} /> <Countdown until={completeBy} />
    </>
  );
}
