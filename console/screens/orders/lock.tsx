import { useState } from 'preact/hooks';
import { call, Problem, post } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { Order } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { Countdown, Said, shortId } from '../../parts/text.tsx';
import { toast } from '../../parts/toast.tsx';

/** Whether another person works on the order alone. */
export const isLockedByOther = ({ heldBy, lockedUntil }: Order): boolean =>
  heldBy !== null && typeof lockedUntil === 'string' && heldBy !== person.value?.subject;

/** Says who works on an order alone, with a button that ends the lock. */
export function LockNote({ order, refresh }: { order: Order; refresh: () => void }) {
  const { heldBy, lockedUntil, orderId } = order;
  if (heldBy === null || typeof lockedUntil !== 'string') return null;
  const isMine = heldBy === person.value?.subject;
  const end = (): void => {
    call('DELETE', `/orders/${orderId}/lock`).then(
      () => {
        toast('The lock has ended. Everybody may change the order.');
        refresh();
      },
      (error: unknown) => toast(error instanceof Problem ? `${error.message} ${error.detail}` : String(error), 'stop'),
    );
  };
  return (
    <div class={`note ${isMine ? 'work' : 'warn'} lock-note`}>
      <Icon name="lock" />
      <div class="grow">
        {isMine ? 'You work on this order alone. Its deadlines stand still. The lock ends ' : null}
        {!isMine && (
          <>
            <Said>{heldBy}</Said> holds this order. You can read and check, not apply. The lock ends{' '}
          </>
        )}
        <Countdown until={lockedUntil} />.
      </div>
      {(isMine || has('admin')) && (
        <button class="btn sm" type="button" onClick={end}>
          End the lock
        </button>
      )}
    </div>
  );
}

const lengths = [
  [300, '5 minutes'],
  [900, '15 minutes'],
  [3_600, '1 hour'],
] as const;

/** Asks for how long, and why, a person wants to work on an order alone. */
export function LockDialog({ order, close, done }: { order: Order; close: () => void; done: () => void }) {
  const [seconds, setSeconds] = useState<number>(300);
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const lock = (): void => {
    post(`/orders/${order.orderId}/lock`, { seconds, reason }).then(
      () => {
        close();
        done();
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Dialog
      title={`Work on ${shortId(order.orderId)} alone?`}
      close={close}
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            Back
          </button>
          <button class="btn go" type="button" disabled={reason.trim() === ''} onClick={lock}>
            Work on it alone
          </button>
        </>
      }
    >
      <p>Nobody else changes the order until the lock ends. Its deadlines stand still, and answers that come meanwhile are kept.</p>
      <div class="field">
        <label for="lock-length">For how long</label>
        <select class="input" id="lock-length" value={seconds} onChange={({ currentTarget }) => setSeconds(Number(currentTarget.value))}>
          {lengths.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <ReasonField id="lock-reason" value={reason} onText={setReason} />
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
