import { useState } from 'preact/hooks';
import { Problem, post } from '../../api/client.ts';
import { has } from '../../api/session.ts';
import type { WholeTask } from '../../api/types.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { Panel } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { Comments, Happened } from './happened.tsx';
import { Resolved } from './resolved.tsx';
import { isMine } from './text.ts';

interface Props {
  readonly task: WholeTask;
  readonly refresh: () => void;
}

/** The task of a destination that gets no messages. */
export const Destination = ({ task, refresh }: Props) => (
  <div class="task">
    <div class="happened">
      <Happened task={task} order={undefined} />
    </div>
    <div class="talk">
      <Comments task={task} refresh={refresh} />
    </div>
    <div class="decide">
      {task.state === 'resolved' ? <Resolved task={task} /> : has('operator') && <Acknowledge task={task} refresh={refresh} />}
    </div>
  </div>
);

function Acknowledge({ task, refresh }: Props) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const isOther = task.assignee !== undefined && !isMine(task);
  const send = (): void => {
    setProblem(undefined);
    post(`/tasks/${encodeURIComponent(task.id)}/resolve`, { instruction: { kind: 'acknowledge' }, reason }).then(
      () => {
        toast('The task is resolved.');
        refresh();
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Panel title="What can be done">
      <div class="body stack">
        <p class="soft">
          Mend the receiver, or change the destinations of the group. The task ends by itself when a message arrives again. Resolve it if
          nobody needs that destination any more.
        </p>
        <ReasonField id="acknowledge-reason" value={reason} onText={setReason} maxLength={1024} />
        {problem && <ProblemNote problem={problem} />}
        <div class="row">
          <button class="btn go" type="button" disabled={reason.trim() === '' || (isOther && !has('admin'))} onClick={send}>
            Resolve the task
          </button>
          {isOther && <span class="muted">{`${task.assignee} has this task.`}</span>}
        </div>
      </div>
    </Panel>
  );
}
