import { useEffect } from 'preact/hooks';
import { usePages, usePoll } from '../api/poll.ts';
import type { Channel, ExceptionGroup, ListedOrder } from '../api/types.ts';
import { Chip } from '../parts/chip.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Loaded, Panel } from '../parts/states.tsx';
import { Ago, counted, Said, shortId, stepName } from '../parts/text.tsx';
import { href, orderLink } from '../router.ts';
import { setCount } from '../shell/counts.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A count of a page; more may follow it. */
const atLeast = (page: Page<unknown> | undefined): string =>
  page === undefined ? '…' : `${page.items.length}${page.next === null ? '' : '+'}`;

/** Whether somebody is needed now. */
export default function Home() {
  const errors = usePoll<Page<ListedOrder>>('/orders?state=Error&limit=100');
  const working = usePoll<Page<ListedOrder>>('/orders?state=Processing&limit=100');
  const pending = usePoll<Page<ListedOrder>>('/orders?state=Pending&limit=100');
  const groups = usePages<ExceptionGroup>('/exceptions/groups?state=open&limit=5', ({ fingerprint }) => fingerprint);
  const channels = usePages<Channel>('/channels?limit=100', ({ name }) => name);
  const sick = channels.items.filter(({ open, breaker }) => !open || (breaker && breaker.phase !== 'closed'));
  useEffect(() => setCount('exceptions', errors.data && atLeast(errors.data)), [errors.data]);
  return (
    <>
      <div class="row top-row">
        <Headline errors={errors.data} working={working.data} channels={channels.items} />
        {errors.data !== undefined && errors.data.items.length > 0 && (
          <a class="btn go" href={href('/exceptions', { state: 'open' })}>
            Open the exceptions
          </a>
        )}
      </div>
      <nav class="figs three" aria-label="Figures">
        <Figure
          name="In error"
          value={atLeast(errors.data)}
          to={href('/orders', { state: 'Error' })}
          isBad={(errors.data?.items.length ?? 0) > 0}
        />
        <Figure name="Processing" value={atLeast(working.data)} to={href('/orders', { state: 'Processing' })} />
        <Figure name="Pending" value={atLeast(pending.data)} to={href('/orders', { state: 'Pending' })} />
      </nav>
      <div class="home">
        <Panel title="Needs a person" aside="newest first" end={<a href={href('/orders', { state: 'Error' })}>All orders in error</a>}>
          <Loaded polled={errors} what="The orders">
            {({ items }) =>
              items.length === 0 ? (
                <Empty title="No order waits for a person." icon="done" />
              ) : (
                <ol class="mini">
                  {items.slice(0, 8).map((order) => (
                    <li key={order.orderId}>
                      <Chip tone="stop" icon="stop" tinted>
                        {order.fault?.type ?? 'Error'}
                      </Chip>
                      <a class="id" href={orderLink(order.orderId)}>
                        {shortId(order.orderId)}
                      </a>
                      <span class="grow clip soft">
                        {order.fault && (
                          <Said>{`${order.fault.source === null ? '' : `at ${stepName(order.fault.source)}: `}${order.fault.message}`}</Said>
                        )}
                      </span>
                      <span class="muted nowrap">
                        <Ago at={order.updatedAt} />
                      </span>
                    </li>
                  ))}
                </ol>
              )
            }
          </Loaded>
        </Panel>
        <div class="stack">
          <Panel title="Open exceptions" end={<a href={href('/exceptions')}>All groups</a>}>
            <Loaded polled={groups} what="The exceptions" rows={3}>
              {() =>
                groups.items.length === 0 ? (
                  <Empty title="None is open." />
                ) : (
                  <ul class="mini">
                    {groups.items.slice(0, 5).map((group) => (
                      <li key={group.fingerprint}>
                        <span class="num c-stop">{group.open}</span>
                        <span class="grow clip">
                          <a href={href('/exceptions', { group: group.fingerprint })}>{group.type}</a>{' '}
                          <span class="muted">{group.step === null ? '' : `at ${stepName(group.step)}`}</span>
                        </span>
                        <Spark perHour={group.perHour} />
                      </li>
                    ))}
                  </ul>
                )
              }
            </Loaded>
          </Panel>
          <Panel title="Agents and queues" end={<a href={href('/agents')}>All</a>}>
            <Loaded polled={channels} what="The queues" rows={3}>
              {() =>
                sick.length === 0 ? (
                  <div class="body soft">Each service answers, and each queue is open.</div>
                ) : (
                  <ul class="mini">
                    {sick.map(({ name, open, requests }) => (
                      <li key={name}>
                        <a class="grow" href={href('/agents')}>
                          {name}
                        </a>
                        <Chip tone={open ? 'warn' : 'stop'} icon={open ? 'clock' : 'pause'} tinted>
                          {open ? 'service outage' : 'queue closed'}
                        </Chip>
                        <span class="num">{requests.visible + requests.delayed}</span>
                      </li>
                    ))}
                  </ul>
                )
              }
            </Loaded>
          </Panel>
        </div>
      </div>
    </>
  );
}

function Headline({
  errors,
  working,
  channels,
}: {
  errors: Page<ListedOrder> | undefined;
  working: Page<ListedOrder> | undefined;
  channels: readonly Channel[];
}) {
  if (errors === undefined) return <h1 class="headline grow">Redress</h1>;
  const closed = channels.filter(({ open }) => !open).length;
  const isOne = errors.items.length === 1 && errors.next === null;
  const waiting = errors.items.length === 0 ? [] : [`${isOne ? '1 order waits' : `${atLeast(errors)} orders wait`} for a person.`];
  const queues = closed === 0 ? [] : [`${counted(closed, 'queue')} ${closed === 1 ? 'is' : 'are'} closed.`];
  const sentences = [...waiting, ...queues];
  const atWork =
    working && `${atLeast(working)} ${working.items.length === 1 && working.next === null ? 'order is' : 'orders are'} at work.`;
  return (
    <h1 class="headline grow">
      {sentences.length === 0 ? 'Nothing waits for a person.' : sentences.join(' ')}
      <small>{atWork}</small>
    </h1>
  );
}

const Figure = ({ name, value, to, isBad = false }: { name: string; value: string; to: string; isBad?: boolean }) => (
  <a class={`fig ${isBad ? 'stop' : ''}`} href={to}>
    <span>{name}</span>
    <b>{value}</b>
  </a>
);
