import { type Page, type Polled, usePoll } from '../api/poll.ts';
import type { Overview, Task } from '../api/types.ts';
import { Chip } from '../parts/chip.tsx';
import { Icon } from '../parts/icon.tsx';
import { Reference } from '../parts/order-id.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Failure, Loaded, Panel, Stale } from '../parts/states.tsx';
import { Clock, Countdown, counted, Said, shortId, stepName } from '../parts/text.tsx';
import { href } from '../router.ts';
import { countText, isSome, overview, waitingTasks } from '../shell/counts.ts';
import { lengthOf } from '../time.ts';
import { PerMinute } from './home/per-minute.tsx';
import { askOf, isMine, lookOfKind } from './tasks/text.ts';

/** The first screen: it shows whether a person is needed now. */
export default function Home() {
  const polled = overview.value;
  const tasks = usePoll<Page<Task>>('/tasks?limit=50');
  const { data } = polled;
  return (
    <>
      <div class="row top-row">
        <Headline data={data} />
        <NextTask tasks={tasks.data?.items ?? []} />
      </div>
      {data ? (
        <>
          <Stale what="The figures" polled={polled} />
          <Figures data={data} />
        </>
      ) : (
        polled.problem && (
          <Panel label="Figures">
            <Failure what="The figures could not be read." problem={polled.problem} retry={polled.refresh} />
          </Panel>
        )
      )}
      {!data && !polled.problem && <div class="figs reserved" aria-busy="true" />}
      <div class="home">
        <div class="stack">
          <Needs tasks={tasks} />
          {data && <PerMinute minutes={data.perMinute} />}
        </div>
        {data && (
          <div class="stack">
            <Groups groups={data.groups} />
            <Channels channels={data.channels} />
          </div>
        )}
      </div>
    </>
  );
}

const Figures = ({ data: { error, tasks, processing, pending, processedToday, oldestLiveSeconds } }: { data: Overview }) => (
  <nav class="figs" aria-label="Figures">
    <Figure name="Orders in Error" value={countText(error)} to={href('/orders', { state: 'Error' })} isBad={isSome(error)} />
    <Figure name="Late tasks" value={countText(tasks.overdue)} to={href('/tasks')} isBad={isSome(tasks.overdue)} />
    <Figure name="Processing" value={countText(processing)} to={href('/orders', { state: 'Processing' })} />
    <Figure name="Pending" value={countText(pending)} to={href('/orders', { state: 'Pending' })} />
    <Figure name="Processed today" value={countText(processedToday)} to={href('/orders', { state: 'Processed' })} />
    <Figure
      name="Oldest live order"
      value={oldestLiveSeconds === null ? 'none' : lengthOf(oldestLiveSeconds * 1_000)}
      to={href('/orders')}
    />
  </nav>
);

const Groups = ({ groups }: Pick<Overview, 'groups'>) => (
  <Panel title="Open exceptions" end={<a href={href('/exceptions')}>All groups</a>}>
    {groups.length === 0 ? (
      <Empty title="None is open." />
    ) : (
      <ul class="mini">
        {groups.map((group) => (
          <li key={group.fingerprint}>
            <span class="num c-stop">{group.open}</span>
            <span class="grow">
              <a href={href('/exceptions', { group: group.fingerprint })}>
                <Said>{group.type}</Said>
              </a>{' '}
              <span class="muted">{group.step === null ? '' : `at ${stepName(group.step)}`}</span>
            </span>
            <Spark perHour={group.perHour} />
          </li>
        ))}
      </ul>
    )}
  </Panel>
);

/** Channels that need a look come first; the others are shown while there is room. */
const channelsMax = 6;

function Channels({ channels }: Pick<Overview, 'channels'>) {
  const urgency = ({ open, outage }: Overview['channels'][number]): number => (open ? Number(outage) : 2);
  const shown = channels.toSorted((one, other) => urgency(other) - urgency(one) || other.depth - one.depth).slice(0, channelsMax);
  return (
    <Panel title="Agents and queues" end={<a href={href('/agents')}>{`All ${channels.length}`}</a>}>
      <table class="list">
        <thead>
          <tr>
            <th>Agent</th>
            <th>State</th>
            <th class="num">Waiting</th>
            <th class="num">Oldest</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, open, outage, depth, oldestSeconds }) => (
            <tr key={name}>
              <td>
                <a href={href('/agents')}>{name}</a>
              </td>
              <td class="fit">
                {open && !outage ? (
                  <Chip tone="ok" icon="done">
                    open
                  </Chip>
                ) : (
                  <Chip tone={open ? 'warn' : 'stop'} icon={open ? 'clock' : 'pause'} tinted>
                    {open ? 'service outage' : 'queue closed'}
                  </Chip>
                )}
              </td>
              <td class="fit num" data-l="waiting">
                {depth}
              </td>
              <td class="fit num soft" data-l="oldest">
                {depth > 0 ? lengthOf(oldestSeconds * 1_000) : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Headline({ data }: { data: Overview | undefined }) {
  if (data === undefined) return <h1 class="headline grow">Redress</h1>;
  const { tasks, processing, channels, asOf } = data;
  const closed = channels.filter(({ open }) => !open).length;
  const late = tasks.overdue === 0 ? '' : `, ${countText(tasks.overdue)} of them ${tasks.overdue === 1 ? 'is' : 'are'} late`;
  const waiting = waitingTasks(tasks);
  const waitText = waiting === 1 ? '1 task waits' : `${countText(waiting)} tasks wait`;
  const sentences = [
    ...(isSome(waiting) ? [`${waitText} for a person${late}.`] : []),
    ...(closed === 0 ? [] : [`${counted(closed, 'queue')} ${closed === 1 ? 'is' : 'are'} closed.`]),
  ];
  const outages = channels.filter(({ open, outage }) => open && outage);
  return (
    <h1 class="headline grow">
      {sentences.length === 0 ? 'Nobody is needed.' : sentences.join(' ')}
      <small>
        {`${countText(processing)} ${processing === 1 ? 'order is' : 'orders are'} at work. `}
        {outages.map(
          ({ name, depth }) =>
            `${counted(depth, 'message')} for ${name} ${depth === 1 ? 'waits' : 'wait'} during the outage of its service. `,
        )}
        <span class="muted">
          As of <Clock at={asOf} />.
        </span>
      </small>
    </h1>
  );
}

/** One button. It leads to my late task, else to my first task, else to the first task that nobody has. */
function NextTask({ tasks }: { tasks: readonly Task[] }) {
  const late = tasks.find((task) => task.overdue && isMine(task));
  const next = late ?? tasks.find(isMine) ?? tasks.find(({ assignee }) => assignee === undefined);
  return next ? (
    <a class="btn go" href={href(`/tasks/${next.id}`)}>
      {late ? 'Open your late task' : isMine(next) ? 'Open your task' : 'Open the next task'}
    </a>
  ) : null;
}

/** Open tasks by due time. Alike ones that nobody has are one row. */
function Needs({ tasks }: { tasks: Polled<Page<Task>> }) {
  return (
    <Panel title="Needs a person" aside="due first" end={<a href={href('/tasks')}>All tasks</a>}>
      <Loaded polled={tasks} what="The tasks">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No order waits for a person." icon="done" />
          ) : (
            <ol class="needs">
              {alike(items)
                .slice(0, 8)
                .map(({ task, count }) => {
                  const look = lookOfKind(task);
                  return (
                    <li key={task.id}>
                      <Icon name={look.icon} tone={look.tone} />
                      <div class="what">
                        <div>
                          <a class="cell" href={href(`/tasks/${task.id}`)}>
                            <b>
                              <Said>{askOf(task)}</Said>
                            </b>
                          </a>
                        </div>
                        <div class="two-lines soft t-s">{task.fault && <Said>{task.fault.message}</Said>}</div>
                      </div>
                      <span class="group soft">
                        {count > 1 ? (
                          <a href={href('/tasks', { fingerprint: task.fingerprint })}>{counted(count, 'order')}</a>
                        ) : (
                          task.orderId !== undefined && (
                            <>
                              <span class="id">{shortId(task.orderId)}</span>
                              <Reference reference={task.reference} />
                            </>
                          )
                        )}
                      </span>
                      <span class="who soft">{isMine(task) ? 'you have it' : <Said>{task.assignee ?? 'nobody has it'}</Said>}</span>
                      <Countdown until={task.dueAt} />
                    </li>
                  );
                })}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  );
}

function alike(tasks: readonly Task[]): readonly { readonly task: Task; readonly count: number }[] {
  const groups = Map.groupBy(tasks, ({ id, assignee, fingerprint }) =>
    assignee === undefined && fingerprint !== undefined ? fingerprint : id,
  );
  return [...groups.values()].flatMap((list) => (list[0] ? [{ task: list[0], count: list.length }] : []));
}

const Figure = ({ name, value, to, isBad = false }: { name: string; value: string; to: string; isBad?: boolean }) => (
  <a class={`fig ${isBad ? 'stop' : ''}`} href={to}>
    <span>{name}</span>
    <b>{value}</b>
  </a>
);
