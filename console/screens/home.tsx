import { useEffect } from 'preact/hooks';
import { type Polled, usePages, usePoll } from '../api/poll.ts';
import type { Channel, ExceptionGroup, ListedOrder, Task } from '../api/types.ts';
import { Chip } from '../parts/chip.tsx';
import { Icon } from '../parts/icon.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Loaded, Panel } from '../parts/states.tsx';
import { Countdown, counted, Said, shortId, stepName } from '../parts/text.tsx';
import { href } from '../router.ts';
import { setCount } from '../shell/counts.ts';
import { askOf, isMine, lookOfKind } from './tasks/text.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A count of a page; more may follow it. */
const atLeast = (page: Page<unknown> | undefined): string =>
  page === undefined ? '…' : `${page.items.length}${page.next === null ? '' : '+'}`;

/** Whether somebody is needed now. */
export default function Home() {
  const tasks = usePoll<Page<Task>>('/tasks?limit=100');
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
        <Headline tasks={tasks.data} working={working.data} channels={channels.items} />
        <NextTask tasks={tasks.data?.items ?? []} />
      </div>
      <nav class="figs four" aria-label="Figures">
        <Figure
          name="Open tasks"
          value={atLeast(tasks.data)}
          to={href('/tasks')}
          isBad={tasks.data?.items.some(({ overdue }) => overdue) === true}
        />
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
        <Needs tasks={tasks} />
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

interface HeadlineProps {
  readonly tasks: Page<Task> | undefined;
  readonly working: Page<ListedOrder> | undefined;
  readonly channels: readonly Channel[];
}

function Headline({ tasks, working, channels }: HeadlineProps) {
  if (tasks === undefined) return <h1 class="headline grow">Redress</h1>;
  const closed = channels.filter(({ open }) => !open).length;
  const late = tasks.items.filter(({ overdue }) => overdue).length;
  const isOne = tasks.items.length === 1 && tasks.next === null;
  const lateText = late === 0 ? '' : `, ${late} of them ${late === 1 ? 'is' : 'are'} late`;
  const waiting = tasks.items.length === 0 ? [] : [`${isOne ? '1 task waits' : `${atLeast(tasks)} tasks wait`} for a person${lateText}.`];
  const queues = closed === 0 ? [] : [`${counted(closed, 'queue')} ${closed === 1 ? 'is' : 'are'} closed.`];
  const sentences = [...waiting, ...queues];
  const isOneAtWork = working?.items.length === 1 && working.next === null;
  return (
    <h1 class="headline grow">
      {sentences.length === 0 ? 'Nobody is needed.' : sentences.join(' ')}
      <small>{working && `${atLeast(working)} ${isOneAtWork ? 'order is' : 'orders are'} at work.`}</small>
    </h1>
  );
}

/** One button: my late task, or the next that nobody has. */
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
                        <div class="soft t-s">{task.fault && <Said>{task.fault.message}</Said>}</div>
                      </div>
                      <span class="group soft">
                        {count > 1 ? (
                          <a href={href('/tasks', { fingerprint: task.fingerprint })}>{counted(count, 'order')}</a>
                        ) : (
                          <span class="id">{task.orderId === undefined ? '' : shortId(task.orderId)}</span>
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
