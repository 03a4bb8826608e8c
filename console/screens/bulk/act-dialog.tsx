import { useState } from 'preact/hooks';
import { Problem, post } from '../../api/client.ts';
import type { BulkRun } from '../../api/types.ts';
import { kindNames, kinds } from '../../instructions/kinds.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { counted } from '../../parts/text.tsx';
import { failuresOf, kindName, startText, unknownText } from './text.tsx';

export type Act = 'start' | 'pause' | 'resume' | 'stop';

const verbs: { readonly [act in Act]: string } = { start: 'Start', pause: 'Pause', resume: 'Go on', stop: 'Stop for good' };
/** For more orders than this, a person must type the number of orders to confirm. */
const typedAbove = 100;

/**
 * Asks before a run stops. Asks also before a run starts or goes on, if its effects cannot be taken back, if some orders failed, or if
 * nobody knows yet whether the canary helped.
 */
export function ActDialog({ act, run, close, done }: { act: Act; run: BulkRun; close: () => void; done: () => void }) {
  const [reason, setReason] = useState(act === 'stop' ? '' : run.reason);
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const known = kindNames.find((each) => each === run.kind);
  const goesTo = act === 'start' && run.canary !== null ? Math.min(run.canary, run.feasible) : run.left || run.feasible;
  const mustType = act !== 'stop' && goesTo > typedAbove;
  const leftOut = run.infeasible + run.refused + run.movedOn;
  const failed = failuresOf(run.verified);
  const unknown = unknownText(run);
  const send = (): void => {
    post(`/bulk/${run.id}/${act}`, { reason }).then(
      () => {
        close();
        done();
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Dialog
      title={
        act === 'start'
          ? `${kindName(run.kind)}: start with ${counted(goesTo, 'order')}?`
          : act === 'stop'
            ? 'Stop this run for good?'
            : 'Let the run go on?'
      }
      close={close}
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            Back
          </button>
          <button
            class="btn go harm"
            type="button"
            disabled={reason.trim() === '' || (mustType && typed !== String(goesTo))}
            onClick={send}
          >
            {act === 'start' ? startText(run) : act === 'resume' ? `Go on with ${counted(run.left, 'order')}` : verbs[act]}
          </button>
        </>
      }
    >
      <ul class="story">
        {act === 'stop' ? (
          <>
            <li>{`${counted(run.left, 'order')} stay untouched.`}</li>
            <li>{`The instruction was applied to ${counted(run.applied, 'order')}. That is not taken back.`}</li>
            <li>A stopped run never goes on.</li>
          </>
        ) : (
          <>
            <li>{known ? `In each order, it ${kinds[known].does}.` : run.kind}</li>
            <li>{`${counted(leftOut, 'order')} of this run ${leftOut === 1 ? 'is' : 'are'} left out.`}</li>
            {unknown !== undefined && <li>{`Too early: ${unknown}.`}</li>}
            {failed > 0 && <li>{`${counted(failed, 'order')} of this run failed. The others may fail in the same way.`}</li>}
            <li>{`${run.ratePerSecond} orders a second. You can pause it at any time.`}</li>
          </>
        )}
      </ul>
      <ReasonField id="act-reason" value={reason} onText={setReason} />
      {mustType && (
        <div class="field">
          <label for="act-typed">{`Type the number of orders, ${goesTo}`}</label>
          <input
            class="input"
            id="act-typed"
            inputMode="numeric"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </div>
      )}
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
