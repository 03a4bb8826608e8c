import { useState } from 'preact/hooks';
import { connection, Problem, post } from '../../api/client.ts';
import type { Check, Order } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Facts } from '../../parts/states.tsx';
import { shortId, stepName } from '../../parts/text.tsx';
import { toast } from '../../parts/toast.tsx';

/** Instructions without a value of their own, with what each does. */
const kinds = {
  resubmit: { name: 'Resubmit', does: 'requests the failed step again' },
  'retry-undo': { name: 'Retry the undo', does: 'requests a stuck undo again' },
  acknowledge: { name: 'Acknowledge', does: 'notes that a person has seen it' },
  suspend: { name: 'Suspend', does: 'stops the time, keeps everything' },
  resume: { name: 'Resume', does: 'lets the time run again' },
  compensate: { name: 'Undo', does: 'undoes what is done, newest first', harm: true },
  cancel: { name: 'Cancel', does: 'undoes what is done, ends as canceled', harm: true },
  terminate: { name: 'Terminate', does: 'ends as it is, undoes nothing', harm: true },
} as const satisfies { readonly [kind: string]: { readonly name: string; readonly does: string; readonly harm?: boolean } };

type Kind = keyof typeof kinds;

/** The menu of instructions. Each is checked first, and applied only as it was checked. */
export function Instruct({ order, done }: { order: Order; done: () => void }) {
  const [kind, setKind] = useState<Kind>();
  if (order.processState === 'Processed') return null;
  return (
    <>
      <details class="who">
        <summary class="btn">Actions</summary>
        <ul class="who-menu actions">
          {(Object.keys(kinds) as Kind[]).map((each) => (
            <li key={each}>
              <button class={`btn bare ${'harm' in kinds[each] ? 'c-stop' : ''}`} type="button" onClick={() => setKind(each)}>
                {`${kinds[each].name}…`}
              </button>
              <span class="hint">{kinds[each].does}</span>
            </li>
          ))}
        </ul>
      </details>
      {kind && <InstructionDialog key={kind} kind={kind} order={order} close={() => setKind(undefined)} done={done} />}
    </>
  );
}

interface DialogProps {
  readonly kind: Kind;
  readonly order: Order;
  readonly close: () => void;
  readonly done: () => void;
}

function InstructionDialog({ kind, order, close, done }: DialogProps) {
  const { name, does } = kinds[kind];
  const [reason, setReason] = useState('');
  const [check, setCheck] = useState<{ readonly result: Check; readonly rev: number }>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const path = `/orders/${order.orderId}/instructions`;
  const isStale = check !== undefined && check.rev !== order.rev;
  const canApply = check?.result.feasible === true && !isStale && !busy && connection.value.lostSince === undefined;

  const run = (work: () => Promise<void>): void => {
    setBusy(true);
    setProblem(undefined);
    work()
      .catch((error: unknown) => setProblem(error instanceof Problem ? error : undefined))
      .finally(() => setBusy(false));
  };
  const doCheck = () => run(async () => setCheck({ result: await post<Check>(path, { kind, reason, dryRun: true }), rev: order.rev }));
  const apply = () =>
    run(async () => {
      const key = crypto.randomUUID();
      await post(path, { kind, reason }, { headers: { 'if-match': `"${check?.rev}"`, 'idempotency-key': key } });
      toast(`Applied: ${name}. It is not yet known whether it helps.`, 'work');
      close();
      done();
    });
  return (
    <Dialog
      title={`${name} ${shortId(order.orderId)}?`}
      close={close}
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            Back
          </button>
          <button class="btn" type="button" disabled={reason.trim() === '' || busy} onClick={doCheck}>
            {isStale ? 'Check again' : 'Check'}
          </button>
          <button class={`btn go ${'harm' in kinds[kind] ? 'harm' : ''}`} type="button" disabled={!canApply} onClick={apply}>
            {name}
          </button>
        </>
      }
    >
      <p>{`It ${does}. Check first: nothing is changed by a check.`}</p>
      <div class="field">
        <label for="reason">Reason, for the audit</label>
        <input
          class="input"
          id="reason"
          placeholder="Required"
          value={reason}
          onInput={({ currentTarget }) => (setReason(currentTarget.value), setCheck(undefined))}
        />
      </div>
      {check && <Effects check={check.result} />}
      {isStale && (
        <div class="note warn" role="status">
          <Icon name="clock" />
          <div>The order has changed since you checked. Check again before you apply.</div>
        </div>
      )}
      {problem && (
        <div class="note stop" role="alert">
          <Icon name="stop" />
          <div>
            <b>{problem.message}</b>
            {[problem.detail, ...problem.errors.map(({ detail }) => detail)].map((text) => (
              <div key={text} class="soft">
                {text}
              </div>
            ))}
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** The result of a check: every reason against the instruction, or all its effects. */
function Effects({ check: { feasible, refusals, warnings, effects, estimate } }: { check: Check }) {
  const names = (list: readonly { readonly path: string; readonly operation: string }[]): string =>
    list.map(({ path, operation }) => `${stepName(path)} (${operation})`).join(', ');
  if (!feasible)
    return (
      <div class="note stop" role="status">
        <Icon name="stop" />
        <div>
          <b>Not possible. Nothing was changed.</b>
          {refusals.map(({ code, detail }) => (
            <div key={code + detail}>
              {detail} <span class="muted mono">{code}</span>
            </div>
          ))}
        </div>
      </div>
    );
  return (
    <div class="stack" role="status">
      <div class="note ok">
        <Icon name="done" />
        <div>Possible. This is what it does:</div>
      </div>
      <Facts
        facts={[
          ['Requests', names(effects.requests) || 'nothing'],
          ['Undoes', names(effects.undoes) || 'nothing'],
          ['Skips', effects.skips.map(stepName).join(', ')],
          ['Mind', warnings.map(({ detail }) => detail).join(' ')],
          ['Estimate', `at most ${estimate.requests} requests, about ${estimate.dollars.toFixed(6)} USD`],
        ]}
      />
    </div>
  );
}
