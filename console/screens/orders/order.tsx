import { useEffect, useState } from 'preact/hooks';
import { usePoll } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { InstructionKind, Order } from '../../api/types.ts';
import { kindNames, kinds } from '../../instructions/kinds.ts';
import { ActionMenu } from '../../instructions/menu.tsx';
import { OrderState } from '../../parts/chip.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Loaded } from '../../parts/states.tsx';
import { Ago, At, Countdown, Said, shortId } from '../../parts/text.tsx';
import { copy } from '../../parts/toast.tsx';
import { go, href, orderLink, place, queried, setQuery } from '../../router.ts';
import { AppliedNote, useApplied } from './applied.tsx';
import { GraphTab } from './graph-tab.tsx';
import { LockDialog, LockNote } from './lock.tsx';
import { reasonOf } from './sentence.ts';
import { Data, HistoryList, Messages, OrderAudit, Plan } from './tabs.tsx';
import { Timeline } from './timeline.tsx';
import { type History, useHistory } from './use-history.ts';

const tabs = ['Graph', 'Timeline', 'History', 'Data', 'Messages', 'Undo plan', 'Audit'] as const;
type Tab = (typeof tabs)[number];

/** One order: why it is where it is, what became of each step, and what an operator can do. */
export function OrderScreen({ orderId }: { orderId: string }) {
  const order = usePoll<Order>(`/orders/${encodeURIComponent(orderId)}`, 2_000);
  useEffect(() => {
    document.title = `${shortId(orderId)} · Redress`;
  }, [orderId]);
  return (
    <Loaded polled={order} what="The order" rows={8}>
      {(data) => <Whole order={data} refresh={order.refresh} />}
    </Loaded>
  );
}

function Whole({ order, refresh }: { order: Order; refresh: () => void }) {
  const { orderId, rev } = order;
  const history = useHistory(orderId, rev);
  const [applied, noteApplied] = useApplied(order);
  const [open, setOpen] = useState<'menu' | 'lock'>();
  const building = kindNames.find((each) => each === queried('do'));
  const tab: Tab = building ? 'Graph' : (tabs.find((each) => each === queried('tab')) ?? 'Graph');
  const instruct = (kind: InstructionKind, at?: string): void => {
    setOpen(undefined);
    setQuery({ tab: undefined, do: kind, at });
  };
  useEffect(() => setOpen(undefined), [place.value]);
  const isOver = order.processState === 'Processed';
  const mayAct = has('operator') && (!isOver || order.exceptionId !== undefined);
  useKeys(
    [
      { key: 'Backspace', what: 'Back to the orders', run: () => go('/orders') },
      { key: 'i', what: 'Copy the id', run: () => copy(orderId, 'the id') },
      { key: 'y', what: 'Copy as command', run: () => copy(`npx redress order get ${orderId}`, 'the command') },
      ...(mayAct ? [{ key: '.', what: 'Actions', run: () => setOpen('menu') }] : []),
      ...tabs.map((each, index) => ({
        key: String(index + 1),
        what: `Show ${each}`,
        run: () => setQuery({ tab: each === 'Graph' ? undefined : each, do: undefined }),
      })),
    ],
    [orderId, mayAct],
  );
  return (
    <>
      <Head order={order} open={setOpen} mayAct={mayAct} />
      <LockNote order={order} refresh={refresh} />
      {applied && <AppliedNote applied={applied} />}
      <Sentence order={order} history={history} instruct={instruct} />
      <nav class="tabs" aria-label="Order">
        {tabs.map((each) => (
          <a
            key={each}
            href={orderLink(orderId, { tab: each === 'Graph' ? undefined : each })}
            aria-current={each === tab ? 'page' : undefined}
          >
            {each}
            {each === 'History' && history && <span class="n">{history.entries.length}</span>}
          </a>
        ))}
      </nav>
      <div class="tab-body">
        <Body tab={tab} order={order} history={history} instruct={instruct} building={building} applied={noteApplied} refresh={refresh} />
      </div>
      {open === 'menu' && <ActionMenu order={order} choose={instruct} lock={() => setOpen('lock')} close={() => setOpen(undefined)} />}
      {open === 'lock' && <LockDialog order={order} close={() => setOpen(undefined)} done={refresh} />}
    </>
  );
}

interface BodyProps {
  readonly tab: Tab;
  readonly order: Order;
  readonly history: History | undefined;
  readonly instruct: (kind: InstructionKind, at?: string) => void;
  readonly building: InstructionKind | undefined;
  readonly applied: (kind: InstructionKind, path: string) => void;
  readonly refresh: () => void;
}

function Body({ tab, order, history, instruct, building, applied, refresh }: BodyProps) {
  const entries = history?.entries ?? [];
  switch (tab) {
    case 'Graph':
      return (
        <GraphTab
          order={order}
          history={history}
          instruct={instruct}
          building={building}
          applied={(kind, path) => {
            applied(kind, path);
            refresh();
          }}
        />
      );
    case 'Timeline':
      return <Timeline order={order} entries={entries} />;
    case 'History':
      return <HistoryList history={history} />;
    case 'Data':
      return <Data order={order} />;
    case 'Messages':
      return <Messages order={order} entries={entries} />;
    case 'Undo plan':
      return <Plan orderId={order.orderId} />;
    case 'Audit':
      return <OrderAudit orderId={order.orderId} />;
  }
}

const Head = ({ order, open, mayAct }: { order: Order; open: (what: 'menu' | 'lock') => void; mayAct: boolean }) => (
  <div class="row o-top">
    <a href={href('/orders')}>Orders</a>
    <span class="muted">/</span>
    <h1 class="big-id">{shortId(order.orderId)}</h1>
    <button class="btn bare sm" type="button" aria-label="Copy the whole id" onClick={() => copy(order.orderId, 'the id')}>
      <Icon name="copy" />
    </button>
    {order.reference !== null && (
      <b class="head-reference">
        <Said>{order.reference}</Said>
      </b>
    )}
    <OrderState order={order} />
    <span class="facts">
      <span>{`${order.workflow.name}@${order.workflow.version}`}</span>
      <span>
        client <Said>{order.client}</Said>
      </span>
      <span>
        <Ago at={order.submittedAt} /> ago
      </span>
      {order.parent && <a class="id" href={orderLink(order.parent)}>{`called by ${shortId(order.parent)}`}</a>}
      {order.restartedFrom && <a class="id" href={orderLink(order.restartedFrom)}>{`restarted from ${shortId(order.restartedFrom)}`}</a>}
      {order.restartedAs && <a class="id" href={orderLink(order.restartedAs)}>{`restarted as ${shortId(order.restartedAs)}`}</a>}
    </span>
    <span class="grow" />
    <button class="btn bare wide" type="button" onClick={() => copy(`npx redress order get ${order.orderId}`, 'the command')}>
      <Icon name="cli" />
      Copy as command
    </button>
    {mayAct && (
      <button class="btn" type="button" onClick={() => open('menu')}>
        Actions <kbd>.</kbd>
      </button>
    )}
  </div>
);

/** Says in a sentence why the order is where it is. */
function Sentence({ order, history, instruct }: { order: Order; history: History | undefined; instruct: BodyProps['instruct'] }) {
  const { tone, big, soft } = reasonOf(order, history?.entries ?? []);
  const isBlocked = order.processState === 'Error' && order.fault !== null;
  // While an undo is stuck, resuming the order requests that undo again. The panel of the undo offers this, and says what it does.
  const isStuck = order.undo !== undefined && order.undo.stuck.length > 0;
  const decide: InstructionKind = order.fault?.type === 'OperatorAsked' || !order.fault?.permanent ? 'resubmit' : 'replace-input';
  return (
    <div class={`why ${tone}`} role="status">
      <div class="grow">
        <div class="big">
          <Said>{big}</Said>
        </div>
        {soft !== '' && (
          <div class="soft">
            <Said>{soft}</Said>
          </div>
        )}
      </div>
      {order.completeBy !== null && order.processState === 'Processing' && !order.undo && (
        <div class="num">
          <At at={order.completeBy} /> <Countdown until={order.completeBy} still={order.suspended} />
        </div>
      )}
      {order.suspended && !isStuck && has('operator') && order.processState !== 'Error' && (
        <button class="btn" type="button" onClick={() => instruct('resume')}>
          {`${kinds.resume.name}…`}
        </button>
      )}
      {order.taskId !== undefined && (
        <a class="btn bare" href={href(`/tasks/${order.taskId}`)}>
          Open the task
        </a>
      )}
      {isBlocked && has('operator') && (
        <button class="btn go" type="button" onClick={() => instruct(decide, order.fault?.source ?? undefined)}>
          {order.fault?.type === 'OperatorAsked' ? 'Answer' : 'Decide'}
        </button>
      )}
    </div>
  );
}
