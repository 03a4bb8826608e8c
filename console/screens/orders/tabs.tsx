import { apiPath } from '../../api/client.ts';
import { usePages, usePoll } from '../../api/poll.ts';
import type { AuditEntry, HistoryEntry, Order, UndoPlan } from '../../api/types.ts';
import { Json } from '../../parts/json.tsx';
import { Empty, Facts, Loaded, Panel, Skeleton } from '../../parts/states.tsx';
import { At, Said, stepName } from '../../parts/text.tsx';
import { lengthOf } from '../../time.ts';
import type { History } from './use-history.ts';

/** Every entry of the history, the oldest first. */
export const HistoryList = ({ history }: { history: History | undefined }) => (
  <Panel
    label="History"
    footer={
      history &&
      !history.isWhole && (
        <span>Only the first {history.entries.length.toLocaleString('en')} entries. The command line and the API have all of them.</span>
      )
    }
  >
    {history ? (
      <ol class="story-list">
        {history.entries.map(({ seq, at, type, path, requestId: _, ...more }) => (
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
    ) : (
      <Skeleton rows={8} />
    )}
  </Panel>
);

/** The body that the client submitted, and the answers of the steps. */
export const Data = ({ order }: { order: Order }) => (
  <div class="data-tab">
    <Panel title="Order" aside="as the client submitted it">
      <div class="body">
        <Json value={order.order} label="The order" />
      </div>
    </Panel>
    <div class="stack">
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
      {order.amended !== undefined && (
        <Panel title="Amended" aside="for this order alone">
          <div class="body">
            <Json value={order.amended} label="Amended" />
          </div>
        </Panel>
      )}
    </div>
  </div>
);

interface Message {
  readonly requestId: string;
  readonly path: string;
  readonly at: string;
  readonly answer: string;
  readonly took: string;
}

const answers = new Set(['ActivityClosed', 'AttemptFailed', 'ReplyRecorded', 'UndoFailed', 'LateResult', 'OutcomeUnknown', 'OrderBlocked']);

/** Joins each request of the history with its answer. */
function messagesOf(entries: readonly HistoryEntry[]): readonly Message[] {
  const messages = new Map<string, Message>();
  const outstanding = new Map<string, string>();
  for (const { type, at, path = '', ...entry } of entries) {
    const requestId = typeof entry['requestId'] === 'string' ? entry['requestId'] : outstanding.get(path);
    if (type === 'StepRequested' && requestId !== undefined) {
      messages.set(requestId, { requestId, path, at, answer: '', took: '' });
      outstanding.set(path, requestId);
    }
    const sent = requestId === undefined ? undefined : messages.get(requestId);
    if (!sent || !answers.has(type) || sent.answer !== '') continue;
    const fault = (entry['fault'] as { type?: string } | undefined)?.type;
    const answer = fault ?? String(entry['result'] ?? entry['status'] ?? type);
    messages.set(sent.requestId, { ...sent, answer, took: lengthOf(Date.parse(at) - Date.parse(sent.at)) });
  }
  return [...messages.values()];
}

/** The requests to agents, with their answers. */
export function Messages({ order, entries }: { order: Order; entries: readonly HistoryEntry[] }) {
  const messages = messagesOf(entries);
  const agents = new Map(order.steps.map(({ path, agent }) => [path, agent]));
  return (
    <Panel label="Messages" footer={<span>The request id is in the message, in the log of the agent, and in the history.</span>}>
      {messages.length === 0 ? (
        <Empty title="Nothing was requested yet." />
      ) : (
        <table class="list">
          <thead>
            <tr>
              <th>Request</th>
              <th>Agent</th>
              <th>Answer</th>
              <th class="num">Took</th>
              <th class="num">Sent</th>
            </tr>
          </thead>
          <tbody>
            {messages.map(({ requestId, path, at, answer, took }) => (
              <tr key={requestId}>
                <td>
                  <b>{stepName(path)}</b>{' '}
                  <span class="mono muted" title={requestId}>
                    {requestId.slice(order.orderId.length + 1)}
                  </span>
                </td>
                <td class="fit soft">{agents.get(path) ?? agents.get(path.replace(/\/undo$/, '')) ?? ''}</td>
                <td class="fit">{answer === '' ? <span class="muted">none yet</span> : answer}</td>
                <td class="fit num soft" data-l="took">
                  {took}
                </td>
                <td class="fit num soft" data-l="sent">
                  <At at={at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** The plan of an undo of the whole order, as of now. */
export function Plan({ orderId }: { orderId: string }) {
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
                    {outcomeUnknown && <div class="c-warn">Its outcome is unknown, and is confirmed first.</div>}
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

/** The actions of people on the order, with their reasons. */
export function OrderAudit({ orderId }: { orderId: string }) {
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
                  <span />
                  <At at={at} />
                  <b>
                    <Said>{by}</Said>
                  </b>
                  <span>
                    {action} <span class="soft">{reason !== null && <Said>{reason}</Said>}</span>
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  );
}
