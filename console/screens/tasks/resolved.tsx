import type { WholeTask } from '../../api/types.ts';
import { Panel } from '../../parts/states.tsx';
import { Said } from '../../parts/text.tsx';
import { href } from '../../router.ts';
import { kindName } from '../bulk/text.tsx';
import { Verdict } from './verdict.tsx';

const nameOf = (instruction: unknown): string => kindName(String((instruction as { readonly kind?: unknown } | null)?.kind));

/** Who has resolved a task, why, and whether it helped. */
export const Resolved = ({ task: { orderId, resolution, verified, nextTaskId } }: { task: WholeTask }) => (
  <Panel title="Resolved">
    <div class="body stack">
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
