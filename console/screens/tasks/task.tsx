import { useEffect, useState } from 'preact/hooks';
import { Problem, post } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { Check, InstructionKind, Order, WholeTask } from '../../api/types.ts';
import { Graph } from '../../graph/graph.tsx';
import { definitionPath, looksOf } from '../../graph/look.ts';
import { useDrawn } from '../../graph/use-layout.ts';
import { checkLooks } from '../../instructions/check-looks.ts';
import { Effects } from '../../instructions/effects.tsx';
import { kindNames } from '../../instructions/kinds.ts';
import { Chip } from '../../parts/chip.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Loaded, Panel, Skeleton } from '../../parts/states.tsx';
import { Countdown, Said } from '../../parts/text.tsx';
import { copy, toast } from '../../parts/toast.tsx';
import { go, href, queried, setQuery } from '../../router.ts';
import { isLockedByOther } from '../orders/lock.tsx';
import { useHistory } from '../orders/use-history.ts';
import { Destination } from './destination.tsx';
import { AssignDialog, Comments, Happened } from './happened.tsx';
import { Own } from './own.tsx';
import { Resolved } from './resolved.tsx';
import { Suggestions } from './suggestions.tsx';
import { askOf, isMine } from './text.ts';
import { UseSolution } from './use-solution.tsx';

/** One task: what happened, what can be done, and what it will do. */
export function TaskScreen({ id }: { id: string }) {
  const task = usePoll<WholeTask>(`/tasks/${encodeURIComponent(id)}`, 2_000);
  useEffect(() => {
    document.title = 'Task · Redress';
  }, []);
  return (
    <Loaded polled={task} what="The task" rows={8}>
      {(data) => <Whole task={data} refresh={task.refresh} />}
    </Loaded>
  );
}

function Whole({ task, refresh }: { task: WholeTask; refresh: () => void }) {
  const [isAssigning, assign] = useState(false);
  const act = (what: 'claim' | 'release', done: string): void => {
    post(`/tasks/${task.id}/${what}`, undefined).then(
      () => {
        toast(done);
        refresh();
      },
      (error: unknown) =>
        toast(error instanceof Problem ? `${error.message} ${error.errors[0]?.detail ?? error.detail}` : String(error), 'stop'),
    );
  };
  const mine = isMine(task);
  const isOver = task.state === 'resolved';
  useKeys(
    [
      { key: 'Backspace', what: 'Back to the tasks', run: () => go('/tasks') },
      ...(has('operator') && !isOver ? [{ key: 'm', what: 'Claim the task', run: () => act('claim', 'You have this task.') }] : []),
      ...(task.orderId === undefined
        ? []
        : [{ key: 'y', what: 'Copy as command', run: () => copy(`npx redress order get ${task.orderId}`, 'the command') }]),
      { key: 'i', what: 'Copy the id', run: () => copy(task.id, 'the id') },
    ],
    [task.id, isOver],
  );
  return (
    <>
      <div class="row o-top">
        <a href={href('/tasks')}>Tasks</a>
        <span class="muted">/</span>
        <h1>
          <Said>{askOf(task)}</Said>
        </h1>
        {isOver ? (
          <Chip tone={task.verified === 'passed' ? 'ok' : 'off'} icon={task.verified === 'passed' ? 'done' : 'off'}>
            resolved
          </Chip>
        ) : (
          <Countdown until={task.dueAt} />
        )}
        {!isOver && (
          <span class="soft">
            {mine ? 'you have it' : task.assignee === undefined ? 'nobody has it' : <Said>{`${task.assignee} has it`}</Said>}
          </span>
        )}
        <span class="grow" />
        {has('operator') && !isOver && (
          <>
            {task.assignee === undefined && (
              <button class="btn" type="button" onClick={() => act('claim', 'You have this task.')}>
                Claim <kbd>m</kbd>
              </button>
            )}
            {(mine || (task.assignee !== undefined && has('admin'))) && (
              <button class="btn bare" type="button" onClick={() => act('release', 'Released. Everybody may claim it.')}>
                Release
              </button>
            )}
            <button class="btn bare" type="button" onClick={() => assign(true)}>
              Assign…
            </button>
          </>
        )}
      </div>
      {hasOrder(task) ? <Decide task={task} refresh={refresh} /> : <Destination task={task} refresh={refresh} />}
      {isAssigning && <AssignDialog task={task} close={() => assign(false)} done={refresh} />}
    </>
  );
}

type OrderTask = WholeTask & { readonly orderId: string; readonly workflow: { readonly name: string; readonly version: number } };

/** A task about a destination of messages has no order: a person mends the destination, and acknowledges the task. */
const hasOrder = (task: WholeTask): task is OrderTask => task.orderId !== undefined && task.workflow !== undefined;

function Decide({ task, refresh }: { task: OrderTask; refresh: () => void }) {
  const order = usePoll<Order>(`/orders/${encodeURIComponent(task.orderId)}`, 2_000);
  const history = useHistory(task.orderId, order.data?.rev);
  const [check, setCheck] = useState<Check>();
  const drawn = useDrawn(order.data?.workflow ?? task.workflow);
  const { data } = order;
  const fallback: InstructionKind =
    data?.processState === 'Processed'
      ? 'acknowledge'
      : task.kind === 'undo-stuck'
        ? 'retry-undo'
        : task.kind === 'question' || !task.fault?.permanent
          ? 'resubmit'
          : 'replace-input';
  const kind = kindNames.find((each) => each === queried('do')) ?? fallback;
  const [isApplied, setApplied] = useState(false);
  const suggestion = task.suggestions.find(({ solutionId }) => solutionId === queried('solution'));
  const applied = (): void => {
    setApplied(true);
    refresh();
    order.refresh();
  };
  const isOther = task.assignee !== undefined && !isMine(task);
  const barred = isOther
    ? `${task.assignee} has this task. You can check, not apply.`
    : data && isLockedByOther(data)
      ? 'Another person holds the order.'
      : undefined;
  const looks = data && looksOf(data.steps, data);
  return (
    <div class="task">
      <div class="happened">
        <Happened task={task} order={data} />
      </div>
      <div class="talk">
        <Comments task={task} refresh={refresh} />
      </div>
      <div class="decide">
        {task.state === 'resolved' ? (
          <Resolved task={task} isNew={isApplied} />
        ) : data ? (
          <>
            {task.suggestions.length > 0 && (
              <Suggestions
                suggestions={task.suggestions}
                chosen={suggestion?.solutionId ?? ''}
                choose={(id) => setQuery({ solution: id, do: undefined })}
              />
            )}
            {suggestion ? (
              <UseSolution
                key={suggestion.solutionId}
                task={task}
                order={data}
                suggestion={suggestion}
                showCheck={setCheck}
                applied={applied}
                barred={barred}
              />
            ) : (
              <Own
                key={kind}
                kind={kind}
                task={task}
                order={data}
                workflow={drawn?.workflow}
                entries={history?.entries ?? []}
                showCheck={setCheck}
                applied={applied}
                barred={barred}
              />
            )}
          </>
        ) : (
          <Panel label="Decide">
            <Skeleton rows={6} />
          </Panel>
        )}
      </div>
      <div class="effect">
        <Panel title={task.state === 'resolved' ? 'The order' : 'What it will do'} end={check && <Possible isPossible={check.feasible} />}>
          <div class="body stack">
            {drawn && looks ? (
              <Graph
                layout={drawn.compact}
                compact
                label={check ? 'What the checked instruction would do' : 'The order as it is'}
                looks={check?.feasible ? checkLooks(check, looks) : looks}
                reached={new Set(history?.entries.flatMap(({ path }) => (path === undefined ? [] : [definitionPath(path)])) ?? [])}
              />
            ) : (
              <Skeleton rows={4} />
            )}
            {check ? (
              <Effects check={check} />
            ) : (
              <p class="hint">
                {task.state === 'resolved' ? 'The order as it is.' : 'Check an instruction to see its effect here. A check sends nothing.'}
              </p>
            )}
          </div>
        </Panel>
      </div>
    </div>
  );
}

const Possible = ({ isPossible }: { isPossible: boolean }) => (
  <Chip tone={isPossible ? 'ok' : 'stop'} icon={isPossible ? 'done' : 'stop'} tinted>
    {isPossible ? 'possible' : 'not possible'}
  </Chip>
);
