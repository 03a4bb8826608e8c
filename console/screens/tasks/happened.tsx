import { useState } from 'preact/hooks';
import { Problem, post } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { Order, WholeTask } from '../../api/types.ts';
import { isUndo } from '../../graph/look.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useDraft } from '../../parts/draft.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { Facts, Panel } from '../../parts/states.tsx';
import { At, counted, Said, shortId } from '../../parts/text.tsx';
import { href, orderLink } from '../../router.ts';

/** The section about what happened, as the task and its order say it. */
export function Happened({ task, order }: { task: WholeTask; order: Order | undefined }) {
  const {
    fault,
    question,
    text,
    orderId,
    kind,
    dueAt,
    group,
    reminders,
    nextReminderAt,
    openedAt,
    similar,
    fingerprint,
    escalation,
    previousTaskId,
  } = task;
  const done =
    order?.steps
      .filter(({ result, path, activity }) => result === 'Succeeded' && !isUndo(path) && activity === 'step')
      .map(({ name }) => name) ?? [];
  const message = question?.text ?? fault?.message ?? text;
  return (
    <Panel title="What happened">
      <div class="body stack">
        {message !== undefined && (
          <div class={`quote ${question ? '' : 'stop'}`}>
            <Said lines>{message}</Said>
          </div>
        )}
        <p class="soft">
          {fault?.permanent ? 'The service refused it for good. ' : ''}
          {orderId === undefined
            ? 'The task is open since '
            : kind === 'undo-stuck'
              ? 'The undo fails since '
              : 'The order stands still since '}
          <At at={openedAt} />.
        </p>
        <Facts
          facts={[
            [
              'Order',
              orderId !== undefined && (
                <a key="order" class="id" href={orderLink(orderId)}>
                  {shortId(orderId)}
                </a>
              ),
            ],
            ['Reference', order?.reference && <Said>{order.reference}</Said>],
            ['Client', order && <Said>{order.client}</Said>],
            ['Done so far', done.join(', ')],
            [
              'Due',
              <>
                <At at={dueAt} />
                {group !== undefined && (
                  <>
                    , group <Said>{group}</Said>
                  </>
                )}
              </>,
            ],
            [
              'Reminders',
              reminders > 0 || nextReminderAt !== null ? (
                <>
                  {`${reminders} sent`}
                  {nextReminderAt !== null && (
                    <>
                      , next <At at={nextReminderAt} />
                    </>
                  )}
                </>
              ) : undefined,
            ],
            [
              'Escalated',
              escalation.level > 0 ? `level ${escalation.level}${escalation.to === null ? '' : `, to ${escalation.to}`}` : undefined,
            ],
          ]}
        />
        {previousTaskId !== undefined && <a href={href(`/tasks/${previousTaskId}`)}>The task before, whose instruction has failed again</a>}
        {similar.open > 0 && fingerprint !== undefined && (
          <div class="row">
            <a href={href('/tasks', { fingerprint })}>{counted(similar.open, 'more task')} like it</a>
            {has('operator') && <a href={href('/bulk/new', { fingerprint })}>Decide for all…</a>}
          </div>
        )}
      </div>
    </Panel>
  );
}

/** The comments of people on the task. */
export function Comments({ task, refresh }: { task: WholeTask; refresh: () => void }) {
  const draft = useDraft(`${person.value?.subject ?? ''} comment ${task.id}`, { text: '' });
  const [problem, setProblem] = useState<Problem>();
  const { text } = draft.value;
  const send = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    setProblem(undefined);
    post(`/tasks/${task.id}/comment`, { text }).then(
      () => {
        draft.discard();
        refresh();
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Panel title="Comments">
      <div class="body stack">
        {task.comments.map(({ by, at, text: said }) => (
          <div key={at + by}>
            <b>
              <Said>{by}</Said>
            </b>{' '}
            <span class="muted">
              <At at={at} />
            </span>
            <div>
              <Said lines>{said}</Said>
            </div>
          </div>
        ))}
        {has('operator') && (
          <form class="row" onSubmit={send}>
            <input
              class="input"
              aria-label="Comment"
              placeholder="Comment"
              maxLength={1024}
              value={text}
              onInput={({ currentTarget }) => draft.change({ text: currentTarget.value })}
            />
            <button class="btn" type="submit" disabled={text.trim() === ''}>
              Send
            </button>
          </form>
        )}
        {problem && <ProblemNote problem={problem} />}
      </div>
    </Panel>
  );
}

/** Gives a task to a person, who has then claimed it, or to a group. */
export function AssignDialog({ task, close, done }: { task: WholeTask; close: () => void; done: () => void }) {
  const [assignee, setAssignee] = useState('');
  const [group, setGroup] = useState(task.group ?? '');
  const [problem, setProblem] = useState<Problem>();
  const assign = (): void => {
    const body = {
      ...(assignee.trim() === '' ? {} : { assignee: assignee.trim() }),
      ...(group.trim() === '' ? {} : { group: group.trim() }),
    };
    post(`/tasks/${task.id}/assign`, body).then(
      () => {
        close();
        done();
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Dialog
      title="Assign this task"
      close={close}
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            Back
          </button>
          <button class="btn go" type="button" disabled={assignee.trim() === '' && group.trim() === ''} onClick={assign}>
            {assignee.trim() === '' ? 'Give it to the group' : 'Give it to this person'}
          </button>
        </>
      }
    >
      <div class="field">
        <label for="assign-person">Person (empty: nobody yet)</label>
        <input
          class="input"
          id="assign-person"
          maxLength={64}
          value={assignee}
          onInput={({ currentTarget }) => setAssignee(currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="assign-group">Group</label>
        <input
          class="input"
          id="assign-group"
          maxLength={64}
          value={group}
          onInput={({ currentTarget }) => setGroup(currentTarget.value)}
        />
      </div>
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
