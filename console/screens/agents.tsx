import { useState } from 'preact/hooks';
import { connection, Problem, post } from '../api/client.ts';
import { usePages } from '../api/poll.ts';
import { has } from '../api/session.ts';
import type { Channel } from '../api/types.ts';
import { Chip } from '../parts/chip.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { ReasonField } from '../parts/reason-field.tsx';
import { Facts, Loaded, PageHead, Panel } from '../parts/states.tsx';
import { Ago, At, Countdown, counted, Said } from '../parts/text.tsx';
import { toast } from '../parts/toast.tsx';
import { href, place } from '../router.ts';
import { lengthOf } from '../time.ts';
import { DeadLetters } from './agents/dead-letters.tsx';

const waitingText = (count: number): string =>
  `${counted(count, 'request')} ${count === 1 ? 'waits' : 'wait'}, and the time of ${count === 1 ? 'its order' : 'their orders'} stands still.`;

const hasOutage = ({ breaker }: Channel): boolean => breaker !== undefined && breaker.phase !== 'closed';

/** Agents with their services and queues. It shows whether somebody must act here. */
export default function Agents() {
  const name = place.value.parts[1];
  return name === undefined ? <AllAgents /> : <DeadLetters key={name} name={name} />;
}

function AllAgents() {
  const channels = usePages<Channel>('/channels?limit=100', ({ name }) => name);
  const notWorking = channels.items
    .filter((each) => !each.open || hasOutage(each))
    .toSorted((one, other) => Number(one.open) - Number(other.open));
  return (
    <>
      <PageHead title="Agents and queues" />
      <div class="side">
        <Panel label="Agents and queues">
          <Loaded polled={channels} what="The queues">
            {() => (
              <table class="list">
                <thead>
                  <tr>
                    <th>Agent</th>
                    <th>Its service</th>
                    <th>Its queue</th>
                    <th class="num">Waiting</th>
                    <th class="num">Oldest</th>
                    <th class="num">At work</th>
                    <th class="num">Replies</th>
                    <th class="num">Dead letters</th>
                    <th>Action</th>
                  </tr>
                </thead>
                <tbody>
                  {channels.items.map((channel) => (
                    <Row key={channel.name} channel={channel} refresh={channels.refresh} />
                  ))}
                </tbody>
              </table>
            )}
          </Loaded>
        </Panel>
        <div class="stack">
          {channels.data && notWorking.length === 0 && (
            <Panel title="Nothing to do here">
              <div class="body soft">Each service answers, and each queue is open.</div>
            </Panel>
          )}
          {notWorking.map((channel) => (
            <NotWorking key={channel.name} channel={channel} refresh={channels.refresh} />
          ))}
        </div>
      </div>
    </>
  );
}

function Row({ channel, refresh }: { channel: Channel; refresh: () => void }) {
  const { name, open, since, breaker, requests, replies, deadLetters, moreDeadLetters } = channel;
  const waiting = requests.visible + requests.delayed;
  return (
    <tr>
      <td class="agent">
        <b>{name}</b>
      </td>
      <td class="fit">
        {breaker === undefined ? (
          <span class="muted">none</span>
        ) : hasOutage(channel) ? (
          <Chip tone="warn" icon="clock" tinted>
            outage
          </Chip>
        ) : (
          <Chip tone="ok" icon="done">
            answers
          </Chip>
        )}
      </td>
      <td class="fit">
        {open ? (
          <span class="soft">open</span>
        ) : (
          <span class="marks">
            <Chip tone="stop" icon="pause" tinted>
              closed
            </Chip>
            {since !== undefined && <Ago at={since} />}
          </span>
        )}
      </td>
      <td class="fit num" data-l="waiting">
        {waiting}
      </td>
      <td class="fit num soft" data-l="oldest">
        {waiting > 0 ? lengthOf(requests.oldestAgeMs) : ''}
      </td>
      <td class="fit num soft lo">{requests.inFlight}</td>
      <td class="fit num soft lo">{replies?.visible ?? ''}</td>
      <td class={`fit num ${deadLetters > 0 ? 'strong' : 'soft'}`} data-l="dead letters">
        {deadLetters === 0 ? (
          '0'
        ) : (
          <a href={href(`/agents/${encodeURIComponent(name)}`)} aria-label={`Dead letters of ${name}: ${deadLetters}`}>
            {`${deadLetters}${moreDeadLetters ? '+' : ''}`}
          </a>
        )}
      </td>
      <td class="fit">{open && has('operator') && <ChannelAction channel={channel} action="close" refresh={refresh} small />}</td>
    </tr>
  );
}

/** A channel that is closed, or whose service is away. */
const NotWorking = ({ channel, refresh }: { channel: Channel; refresh: () => void }) => {
  const { name, open, by, reason, since, breaker, requests } = channel;
  const waiting = requests.visible + requests.delayed;
  return (
    <Panel
      title={name}
      end={
        <Chip tone={open ? 'warn' : 'stop'} icon={open ? 'clock' : 'pause'} tinted>
          {open ? 'service outage' : 'queue closed'}
        </Chip>
      }
    >
      <div class="body stack">
        {open ? (
          <div class="note warn">
            <Icon name="clock" />
            <div>
              <b>Nothing to do here.</b> {`${waitingText(waiting)} One request probes the service. When it is answered, the others follow.`}
            </div>
          </div>
        ) : (
          <div class="note stop">
            <Icon name="stop" />
            <div>
              <b>Somebody must open it.</b> Closed by <Said>{by ?? 'engine'}</Said>
              {since !== undefined && (
                <>
                  {' at '}
                  <At at={since} />
                </>
              )}
              {reason !== undefined && (
                <>
                  {': '}
                  <Said>{reason}</Said>
                </>
              )}
              . {waitingText(waiting)}
            </div>
          </div>
        )}
        <Facts
          facts={[
            ['Outage since', breaker?.awaySince && <At at={breaker.awaySince} />],
            ['Next probe', breaker?.nextProbeAt && <Countdown until={breaker.nextProbeAt} />],
            ['Failed probes', breaker?.failedProbes === undefined ? undefined : String(breaker.failedProbes)],
          ]}
        />
        {!open && has('operator') && (
          <div class="row">
            {breaker !== undefined && <ChannelAction channel={channel} action="canary" refresh={refresh} />}
            <ChannelAction channel={channel} action="open" refresh={refresh} />
          </div>
        )}
      </div>
    </Panel>
  );
};

const actions = {
  open: { name: 'Open', does: 'The waiting messages are released in their order.' },
  canary: { name: 'Open, one request first', does: 'One request is sent first, and the others after its reply.' },
  close: {
    name: 'Close',
    does: 'Nothing is taken from the queue until somebody opens it. Orders that need it wait, and their time stands still.',
  },
} as const;

function ChannelAction({
  channel: { name },
  action,
  refresh,
  small = false,
}: {
  channel: Channel;
  action: keyof typeof actions;
  refresh: () => void;
  small?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string>();
  const { name: verb, does } = actions[action];
  const apply = (): void => {
    const body = { reason, ...(action === 'canary' ? { canary: true } : {}) };
    post(`/channels/${name}/${action === 'close' ? 'close' : 'open'}`, body).then(
      () => {
        toast(action === 'close' ? `Closed: ${name}.` : `Opened: ${name}.`);
        setOpen(false);
        refresh();
      },
      (error: unknown) => setProblem(error instanceof Problem ? `${error.message} ${error.detail}` : String(error)),
    );
  };
  return (
    <>
      <button class={`btn ${small ? 'bare sm' : ''}`} type="button" onClick={() => setOpen(true)}>{`${verb}…`}</button>
      {isOpen && (
        <Dialog
          title={`${verb}: ${name}`}
          close={() => setOpen(false)}
          footer={
            <>
              <button class="btn" type="button" onClick={() => setOpen(false)}>
                Back
              </button>
              <button
                class="btn go"
                type="button"
                disabled={reason.trim() === '' || connection.value.lostSince !== undefined}
                onClick={apply}
              >
                {verb}
              </button>
            </>
          }
        >
          <p>{does}</p>
          <ReasonField id="turn-reason" value={reason} onText={setReason} />
          {problem !== undefined && (
            <div class="note stop" role="alert">
              <Icon name="stop" />
              <div>{problem}</div>
            </div>
          )}
        </Dialog>
      )}
    </>
  );
}
