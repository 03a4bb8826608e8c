import { apiPath, Problem, post } from '../api/client.ts';
import type { Pages } from '../api/poll.ts';
import { has } from '../api/session.ts';
import { useSteadyPages } from '../api/steady.ts';
import type { Task } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { useKeys } from '../parts/keys.ts';
import { Reference } from '../parts/order-id.tsx';
import { Empty, Loaded, PageHead } from '../parts/states.tsx';
import { Ago, Countdown, Said, shortId } from '../parts/text.tsx';
import { toast } from '../parts/toast.tsx';
import { useRows } from '../parts/use-rows.ts';
import { WaitingRows } from '../parts/waiting-rows.tsx';
import { go, href, place, queried } from '../router.ts';
import { TaskScreen } from './tasks/task.tsx';
import { askOf, isMine, kindLooks, lookOfKind } from './tasks/text.ts';
import { Verdict } from './tasks/verdict.tsx';

type Query = { readonly [name: string]: string };

const tabs: readonly (readonly [id: string, name: string, query: Query])[] = [
  ['', 'All', {}],
  ['mine', 'Mine', { assignee: 'me' }],
  ['groups', 'My groups', { group: 'mine' }],
  ['nobody', 'Unassigned', { assignee: 'none' }],
  ['late', 'Late', { overdue: 'true' }],
  ['resolved', 'Resolved', { state: 'resolved' }],
];

/** The list of tasks, or one task. */
export default function Tasks() {
  const id = place.value.parts[1];
  return id === undefined ? <TaskList /> : <TaskScreen key={id} id={id} />;
}

function TaskList() {
  const tab = queried('show');
  const [, , query] = tabs.find(([id]) => id === tab) ?? tabs[0] ?? ['', '', {}];
  const fingerprint = queried('fingerprint');
  const tasks = useSteadyPages<Task>(apiPath('/tasks', { ...query, fingerprint, limit: 50 }), ({ id }) => id, 4_000);
  const rows = useRows(tasks.items.map(({ id }) => `/tasks/${id}`));
  const next = tasks.items.find(({ state }) => state === 'open');
  const claimNext = (): void => {
    if (next) claim(next);
  };
  useKeys(
    [
      { key: 'l', what: 'Load more tasks', run: tasks.more },
      { key: 'n', what: 'Claim the next task', run: claimNext },
      ...tabs.map(([id, name], index) => ({ key: String(index + 1), what: `Show ${name}`, run: () => go('/tasks', { show: id }) })),
    ],
    [tasks.more, next?.id],
  );
  return (
    <>
      <PageHead title="Tasks" lede={fingerprint === '' ? undefined : `${tasks.items.length}${tasks.hasMore ? '+' : ''} alike`}>
        {has('operator') && fingerprint !== '' && tab !== 'resolved' && tasks.items.length > 1 && (
          <a class="btn go" href={href('/bulk/new', { fingerprint })}>
            Decide for all…
          </a>
        )}
        {has('operator') && (
          <button class="btn" type="button" disabled={next === undefined} onClick={claimNext}>
            Claim the next <kbd>n</kbd>
          </button>
        )}
      </PageHead>
      <div class="panel">
        <nav class="tabs" aria-label="Tasks">
          {tabs.map(([id, name]) => (
            <a key={id} href={href('/tasks', { show: id, fingerprint })} aria-current={id === tab ? 'true' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <div class="bar">
          {fingerprint !== '' && (
            <a class="filter" href={href('/tasks', { show: tab })}>
              <span class="muted">group</span> {fingerprint} <Icon name="cancel" />
            </a>
          )}
          <span class="end">
            <WaitingRows list={tasks} />
          </span>
          <span class="legend">
            {kindLooks.map(({ icon, tone, name }) => (
              <span key={name}>
                <Icon name={icon} tone={tone} />
                {name}
              </span>
            ))}
          </span>
        </div>
        <Loaded polled={tasks} what="The tasks" rows={10}>
          {() =>
            tasks.items.length === 0 ? (
              <NoTask tab={tab} hasMore={tasks.hasMore} />
            ) : (
              <Table tasks={tasks.items} at={rows.at} table={rows.table} isResolved={tab === 'resolved'} />
            )
          }
        </Loaded>
        {tasks.data && <Foot tasks={tasks} isResolved={tab === 'resolved'} />}
      </div>
    </>
  );
}

/** Claims a task, and opens it. If another person has claimed it before, a message names that person. */
function claim(task: Task): void {
  post(`/tasks/${task.id}/claim`, undefined).then(
    () => go(`/tasks/${task.id}`),
    (error: unknown) => toast(error instanceof Problem ? `${error.message} ${error.detail}` : String(error), 'stop'),
  );
}

const NoTask = ({ tab, hasMore }: { tab: string; hasMore: boolean }) =>
  hasMore ? (
    <Empty title="None so far.">
      <p>Load more to look further.</p>
    </Empty>
  ) : (
    <Empty title={tab === '' ? 'Nobody is needed.' : 'No task here.'} icon="done">
      <p>{tab === '' ? 'No order waits for a person.' : 'Other tabs may have some.'}</p>
    </Empty>
  );

const Foot = ({ tasks: { items, hasMore, loading, more }, isResolved }: { tasks: Pages<Task>; isResolved: boolean }) => (
  <footer class="row between">
    <span>{`${hasMore ? 'The first' : 'All'} ${items.length}, ${isResolved ? 'newest first' : 'due first'}`}</span>
    {hasMore && (
      <button class="btn bare sm" type="button" disabled={loading} onClick={more}>
        Load more <kbd>l</kbd>
      </button>
    )}
  </footer>
);

const Table = ({ tasks, at, table, isResolved }: { tasks: readonly Task[]; at: number; table: object; isResolved: boolean }) => (
  <table class="list" {...table}>
    <thead>
      <tr>
        <th>
          <span class="vh">Kind</span>
        </th>
        <th>What is asked</th>
        <th>Order</th>
        <th>Group</th>
        <th>{isResolved ? 'Resolved by' : 'Who has it'}</th>
        {isResolved ? <th>Did it help?</th> : <th class="num">Reminders</th>}
        <th class="num">{isResolved ? 'Resolved' : 'Due'}</th>
      </tr>
    </thead>
    <tbody>
      {tasks.map((task, index) => {
        const look = lookOfKind(task);
        return (
          <tr key={task.id} class={at === index ? 'cursor' : ''}>
            <td class="fit" title={look.name}>
              <Icon name={look.icon} tone={look.tone} />
            </td>
            <td>
              <div class="two-lines">
                <a class="cell" href={href(`/tasks/${task.id}`)}>
                  <Said>{askOf(task)}</Said>
                </a>{' '}
                {task.fault && (
                  <span class="muted">
                    <Said>{task.fault.message}</Said>
                  </span>
                )}
              </div>
            </td>
            <td class="fit soft">
              <span class="id">{task.orderId === undefined ? 'no order' : shortId(task.orderId)}</span>
              <Reference reference={task.reference} />
            </td>
            <td class="fit soft lo">{task.group !== undefined && <Said>{task.group}</Said>}</td>
            <td class="fit" data-l={isResolved ? 'by' : 'with'}>
              {isResolved ? (
                <Said>{task.resolution?.by ?? ''}</Said>
              ) : isMine(task) ? (
                <b>you</b>
              ) : task.assignee === undefined ? (
                <span class="muted">nobody</span>
              ) : (
                <Said>{task.assignee}</Said>
              )}
            </td>
            {isResolved ? (
              <td class="fit">{task.verified && <Verdict verified={task.verified} />}</td>
            ) : (
              <td class="fit num soft lo">{task.reminders > 0 ? task.reminders : ''}</td>
            )}
            <td class="fit num">
              {task.state === 'resolved' ? (
                <span class="soft">{task.resolution ? <Ago at={task.resolution.at} /> : ''} ago</span>
              ) : (
                <Countdown until={task.dueAt} />
              )}
            </td>
          </tr>
        );
      })}
    </tbody>
  </table>
);
