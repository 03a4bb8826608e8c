import { useEffect, useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { usePages, usePoll } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { AuditEntry, HistoryEntry, Order, UndoPlan } from '../../api/types.ts';
import { OrderState } from '../../parts/chip.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Json } from '../../parts/json.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Empty, Facts, Loaded, Panel } from '../../parts/states.tsx';
import { Ago, At, Countdown, Said, shortId, stepName } from '../../parts/text.tsx';
import { copy } from '../../parts/toast.tsx';
import { go, href, orderLink, queried } from '../../router.ts';
import { Instruct } from './instruct.tsx';
import { StepPanel, Steps } from './steps.tsx';

const tabs = ['Steps', 'History', 'Data', 'Undo plan', 'Audit'] as const;

/** One order: why it is where it is, its steps, and what an operator can do. */
export function OrderScreen({ orderId }: { orderId: string }) {
  const order = usePoll<Order>(`/orders/${encodeURIComponent(orderId)}`, 2_000);
  const tab = tabs.find((each) => each === queried('tab')) ?? 'Steps';
  useEffect(() => {
    document.title = `${shortId(orderId)} · Redress`;
  }, [orderId]);
  useKeys(
    [
      { key: 'Backspace', what: 'Back to the orders', run: () => go('/orders') },
      { key: 'i', what: 'Copy the id', run: () => copy(orderId, 'the id') },
      { key: 'y', what: 'Copy as command', run: () => copy(`npx redress order get ${orderId}`, 'the command') },
      ...tabs.map((each, index) => ({ key: String(index + 1), what: `Show ${each}`, run: () => go(`/orders/${orderId}`, { tab: each }) })),
    ],
    [orderId],
  );
  return (
    <Loaded polled={order} what="The order" rows={8}>
      {(data) => (
        <>
          <Head order={data} refresh={order.refresh} />
          <Sentence order={data} />
          <nav class="tabs" aria-label="Order">
            {tabs.map((each) => (
              <a key={each} href={orderLink(orderId, { tab: each })} aria-current={each === tab ? 'page' : undefined}>
                {each}
              </a>
            ))}
          </nav>
          <div class="tab-body">
            {tab === 'Steps' && <StepsTab order={data} />}
            {tab === 'History' && <History orderId={orderId} />}
            {tab === 'Data' && <Data order={data} />}
            {tab === 'Undo plan' && <Plan orderId={orderId} />}
            {tab === 'Audit' && <OrderAudit orderId={orderId} />}
          </div>
        </>
      )}
    </Loaded>
  );
}

const Head = ({ order, refresh }: { order: Order; refresh: () => void }) => (
  <div class="row o-top">
    <a href={href('/orders')}>Orders</a>
    <span class="muted">/</span>
    <h1 class="big-id">{shortId(order.orderId)}</h1>
    <button class="btn bare sm" type="button" aria-label="Copy the id" onClick={() => copy(order.orderId, 'the id')}>
      <Icon name="copy" />
    </button>
    <OrderState order={order} />
    <span class="facts">
      {order.reference !== null && <Said>{order.reference}</Said>}
      <span>{`${order.workflow.name}@${order.workflow.version}`}</span>
      <span>
        client <Said>{order.client}</Said>
      </span>
      <Ago at={order.submittedAt} />
    </span>
    <span class="grow" />
    {has('operator') && <Instruct order={order} done={refresh} />}
  </div>
);

/** Says in a sentence why the order is where it is. */
function Sentence({ order }: { order: Order }) {
  const { fault, processState, explanation, outcome, suspended } = order;
  const isBlocked = processState === 'Error' && fault !== null;
  const done = order.steps.filter(({ result }) => result === 'Succeeded').map(({ name }) => name);
  const stays =
    done.length === 0
      ? 'No step is done.'
      : `${done.join(', ')} ${done.length === 1 ? 'is done and stays as it is' : 'are done and stay as they are'}.`;
  const sentence = isBlocked
    ? `${fault.source === null ? 'The order' : stepName(fault.source)} ended with ${fault.type}. A person decides how the order continues.`
    : processState === 'Processed'
      ? `The order has ended: ${outcome}.`
      : (explanation ?? 'The order is at work.');
  return (
    <div class={`why ${isBlocked ? 'stop' : ''}`} role="status">
      <div class="grow">
        <div class="big">
          <Said>{sentence}</Said>
        </div>
        {isBlocked && <div class="soft">{`${stays} Nothing is requested meanwhile.`}</div>}
        {!isBlocked && fault && (
          <div class="soft">
            {`${fault.type}: `}
            <Said>{fault.message}</Said>
          </div>
        )}
      </div>
      {order.completeBy !== null && processState !== 'Processed' && (
        <div class="num">
          <At at={order.completeBy} /> <Countdown until={order.completeBy} still={suspended} />
        </div>
      )}
    </div>
  );
}

function StepsTab({ order }: { order: Order }) {
  const [chosen, choose] = useState<string>();
  const first =
    order.steps.find(({ status }) => status === 'Faulting') ?? order.steps.find(({ status }) => status === 'Executing') ?? order.steps[0];
  const step = order.steps.find(({ path }) => path === chosen) ?? first;
  return (
    <div class="split">
      <Panel label="Steps">
        <Steps order={order} chosen={step?.path} choose={choose} />
      </Panel>
      {step && <StepPanel step={step} order={order} />}
    </div>
  );
}

function History({ orderId }: { orderId: string }) {
  const entries = usePages<HistoryEntry>(apiPath(`/orders/${orderId}/history`, { limit: 100 }), ({ seq }) => String(seq));
  return (
    <Panel
      label="History"
      footer={
        entries.hasMore && (
          <button class="btn bare sm" type="button" onClick={entries.more}>
            Load later entries
          </button>
        )
      }
    >
      <Loaded polled={entries} what="The history">
        {() => (
          <ol class="story-list">
            {entries.items.map(({ seq, at, type, path, requestId: _, ...more }) => (
              <li key={seq}>
                <span class="muted num">{seq}</span>
                <At at={at} />
                <b>{type}</b>
                <span class="mono soft">{path ?? ''}</span>
                {Object.keys(more).length > 0 && (
                  <details>
                    <summary>Details</summary>
                    <Json value={more} label={`Details of entry ${seq}`} />
                  </details>
                )}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Panel>
  );
}

const Data = ({ order }: { order: Order }) => (
  <div class="stack">
    <Panel title="Order" aside="as the client submitted it">
      <div class="body">
        <Json value={order.order} label="The order" />
      </div>
    </Panel>
    <Panel title="Outputs of the steps">
      <div class="body">
        <Json
          value={Object.fromEntries(order.steps.filter(({ output }) => output !== null).map(({ path, output }) => [path, output]))}
          label="Outputs"
        />
      </div>
    </Panel>
    {order.output !== undefined && (
      <Panel title="Output of the order">
        <div class="body">
          <Json value={order.output} label="Output" />
        </div>
      </Panel>
    )}
  </div>
);

function Plan({ orderId }: { orderId: string }) {
  const plan = usePoll<UndoPlan>(`/orders/${orderId}/plan`);
  return (
    <Panel title="What an undo would do" aside="newest first; nothing is changed">
      <Loaded polled={plan} what="The undo plan">
        {({ steps, withoutUndo }) => (
          <>
            {steps.length === 0 && <Empty title="It undoes nothing." />}
            <ol class="plan">
              {steps.map(({ path, agent, operation, input, outcomeUnknown, impossible }, index) => (
                <li key={path}>
                  <span class="n">{index + 1}</span>
                  <span>
                    <b>{stepName(path)}</b> <span class="mono muted">{`${agent}.${operation}`}</span>
                    {outcomeUnknown && <div class="c-warn">Its outcome is unknown: a lookup confirms it first.</div>}
                    {impossible !== undefined && <div class="c-stop">{impossible}</div>}
                  </span>
                  <Json value={input} label={`Input of the undo of ${stepName(path)}`} />
                </li>
              ))}
            </ol>
            {withoutUndo.length > 0 && (
              <div class="body">
                <Facts
                  facts={[['Stays', withoutUndo.map(({ path, operation }) => `${stepName(path)} (${operation} has no undo)`).join(', ')]]}
                />
              </div>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function OrderAudit({ orderId }: { orderId: string }) {
  const entries = usePages<AuditEntry>(apiPath('/audit', { target: orderId, limit: 50 }), ({ id }) => id);
  return (
    <Panel label="Audit">
      <Loaded polled={entries} what="The audit">
        {() =>
          entries.items.length === 0 ? (
            <Empty title="No person has changed this order." />
          ) : (
            <ol class="story-list">
              {entries.items.map(({ id, at, by, action, reason }) => (
                <li key={id}>
                  <At at={at} />
                  <b>
                    <Said>{by}</Said>
                  </b>
                  <span>{action}</span>
                  <span class="soft">{reason !== null && <Said>{reason}</Said>}</span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  );
}
