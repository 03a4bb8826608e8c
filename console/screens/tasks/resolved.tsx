import { useEffect, useRef } from 'preact/hooks';
import type { WholeTask } from '../../api/types.ts';
import { focusOn } from '../../parts/sight.ts';
import { Panel } from '../../parts/states.tsx';
import { Said } from '../../parts/text.tsx';
import { href } from '../../router.ts';
import { kindName } from '../bulk/text.tsx';
import { Verdict } from './verdict.tsx';

const nameOf = (instruction: unknown): string => kindName(String((instruction as { readonly kind?: unknown } | null)?.kind));

interface Props {
  readonly task: WholeTask;
  /** Whether the person has just resolved the task: then this note gets the focus, and the page scrolls to it. */
  readonly isNew?: boolean;
}

/** The person who has resolved a task, the reason, and whether the instruction helped. */
export function Resolved({ task: { orderId, resolution, verified, nextTaskId }, isNew = false }: Props) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNew) focusOn(body.current);
  }, []);
  return (
    <Panel title="Resolved">
      <div class="body stack" tabIndex={-1} ref={body}>
        {resolution ? (
          <>
            <p>
              <Said>{resolution.by}</Said>{' '}
              {resolution.instruction !== undefined
                ? `decided: ${nameOf(resolution.instruction)}.`
                : `saw ${orderId === undefined ? 'a message arrive' : 'the order go on'}.`}
            </p>
            {resolution.reason !== null && (
              <div class="quote">
                <Said>{resolution.reason}</Said>
              </div>
            )}
            {verified !== undefined && (
              <p>
                <Verdict verified={verified} />
              </p>
            )}
            {nextTaskId !== undefined && <a href={href(`/tasks/${nextTaskId}`)}>The task that came after it</a>}
          </>
        ) : (
          <p>The order went on.</p>
        )}
      </div>
    </Panel>
  );
}
