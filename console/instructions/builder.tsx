import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { JsonObject } from '#core/data/json';
import { connection, Problem, post } from '../api/client.ts';
import { has, person } from '../api/session.ts';
import type { Check, HistoryEntry, InstructionKind, Order, Workflow } from '../api/types.ts';
import { Copies } from '../parts/copies.tsx';
import { useDraft } from '../parts/draft.ts';
import { Icon } from '../parts/icon.tsx';
import { useKeys } from '../parts/keys.ts';
import { ReasonField } from '../parts/reason-field.tsx';
import { shortId } from '../parts/text.tsx';
import { built } from './built.ts';
import { commandOf, curlOf } from './commands.ts';
import { Effects } from './effects.tsx';
import { Fields } from './fields.tsx';
import { showFirst } from './first-field.ts';
import { KindOptions } from './kind-options.tsx';
import { kindFor, kinds, startValues, unfitNow } from './kinds.ts';
import { Conflict, StaleNote } from './notes.tsx';

interface Props {
  readonly kind: InstructionKind;
  /** The step that the instruction is about, from the address. */
  readonly at: string | undefined;
  readonly order: Order;
  readonly workflow: Workflow | undefined;
  readonly entries: readonly HistoryEntry[];
  readonly changeKind: (kind: InstructionKind) => void;
  readonly close: () => void;
  /** Shows a check in the graph. `undefined` hides the last one, because it no longer fits the form. */
  readonly showCheck: (check: Check | undefined) => void;
  readonly applied: (kind: InstructionKind, path: string) => void;
  /** The reason why nothing can be applied now: another person has the order, or the task. */
  readonly barred?: string | undefined;
  /** Whether the form is a fixed part of the page, and the page itself shows the check. */
  readonly isPartOfPage?: boolean;
  /** The call that gives the instruction, if it is not the order's own call: a task has another one. */
  readonly sending?: Sending;
}

interface Sending {
  readonly path: string;
  readonly more: JsonObject;
  /** Returns the same instruction as a command of `redress`. */
  readonly commandOf: (instruction: Instruction, reason: string) => string;
  /** Fields beside the reason. */
  readonly fields?: ComponentChildren;
}

interface Checked {
  readonly result: Check;
  readonly rev: number;
  /** The instruction that was checked, as text. */
  readonly text: string;
  readonly key: string;
}

/** The form of an instruction: its values, its check, and the button that applies exactly what was checked. */
export function Builder(props: Props) {
  const { kind, order, workflow, entries, close, changeKind, barred, sending, isPartOfPage = false } = props;
  const form = useForm(props);
  const { values, change, start, instruction, missing, checked, isStale, problem, busy, doCheck, apply, canApply } = form;
  const { name, does, verb, harm, fields } = kindFor(kind, order);
  const unfit = unfitNow(kind, order);
  const errors = [...(checked?.result.refusals ?? []), ...(problem?.errors ?? [])].flatMap(({ pointer, detail }) =>
    pointer ? [{ pointer, detail }] : [],
  );
  const section = useRef<HTMLElement>(null);
  const isKnown = workflow !== undefined;
  useLayoutEffect(() => {
    if (!isPartOfPage && !section.current?.contains(document.activeElement)) showFirst(section.current, order.fault);
  }, [isKnown]);
  useKeys(
    [
      { key: 'c', what: 'Check the instruction', run: doCheck },
      { key: 'Ctrl+Enter', what: 'Apply what was checked', run: () => canApply && apply(), always: true },
      { key: 'Escape', what: 'Close the form; what you typed is kept', run: close },
    ],
    [doCheck, apply, canApply, close],
  );
  return (
    <section class="panel build" ref={section} aria-label={`${name}: an instruction for ${shortId(order.orderId)}`}>
      <header>
        <h2>{name}</h2>
        {!isPartOfPage && (
          <button class="btn bare sm end" type="button" aria-label="Close the form" onClick={close}>
            <Icon name="cancel" />
          </button>
        )}
      </header>
      <div class="body stack">
        <div class="field">
          <label for="instruct-kind">Do</label>
          <select
            class="input"
            id="instruct-kind"
            value={kind}
            onChange={({ currentTarget }) => changeKind(currentTarget.value as InstructionKind)}
          >
            <KindOptions order={order} />
          </select>
        </div>
        <p class="hint">{unfit === undefined ? `It ${does}.` : `This does not fit now: ${unfit}.`}</p>
        <Fields
          names={fields}
          kind={kind}
          values={values}
          start={start}
          change={change}
          order={order}
          workflow={workflow}
          errors={errors}
        />
        <ReasonField id="instruct-reason" value={values.reason} onText={(next) => change({ reason: next })} maxLength={1024} />
      </div>
      {((checked && (isStale || !isPartOfPage)) || problem) && (
        <div class="body stack effect-part">
          {checked && !isStale && !isPartOfPage && <Effects check={checked.result} />}
          {isStale && !form.checksSoon && (
            <StaleNote order={order} entries={entries} rev={checked?.rev ?? 0} hasOrderChanged={checked?.rev !== order.rev} />
          )}
          {problem && <Conflict problem={problem} />}
        </div>
      )}
      <div class="apply">
        {sending?.fields}
        <div class="row">
          <button class="btn" type="button" disabled={instruction === undefined || busy !== undefined} onClick={doCheck}>
            {checked ? 'Check again' : 'Check'} <kbd>c</kbd>
          </button>
          <span class="hint">{missing ?? (busy === 'check' ? 'The check is running.' : 'A check sends nothing and changes nothing.')}</span>
        </div>
        <button class={`btn go big ${harm ? 'harm' : ''}`} type="button" disabled={!canApply || barred !== undefined} onClick={apply}>
          {verb}
        </button>
        <p class="hint">{applyHint({ canApply, checked, isStale, reason: values.reason, barred, harm: harm === true })}</p>
        {instruction && (
          <Copies
            command={() => sending?.commandOf(instruction, values.reason) ?? commandOf(order.orderId, instruction, values.reason)}
            curl={() => curlOf({ ...callOf(order, checked, sending), body: bodyOf(instruction, values.reason || 'why', sending) })}
          >
            <button class="btn bare sm end" type="button" onClick={form.discard}>
              Discard
            </button>
          </Copies>
        )}
      </div>
    </section>
  );
}

type Instruction = JsonObject & { readonly kind: InstructionKind };

const callOf = ({ orderId, rev }: Order, checked: Checked | undefined, sending: Sending | undefined) => ({
  path: sending?.path ?? `/orders/${orderId}/instructions`,
  headers: { 'If-Match': `"${checked?.rev ?? rev}"` },
});

const bodyOf = (instruction: Instruction, reason: string, sending: Sending | undefined): JsonObject =>
  sending ? { instruction, reason, ...sending.more } : { ...instruction, reason };

interface HintAbout {
  readonly canApply: boolean;
  readonly checked: Checked | undefined;
  readonly isStale: boolean;
  readonly reason: string;
  readonly barred: string | undefined;
  readonly harm: boolean;
}

function applyHint({ canApply, checked, isStale, reason, barred, harm }: HintAbout): string {
  if (!has('operator')) return 'You can only read here. A change needs the role operator.';
  if (barred !== undefined) return barred;
  if (connection.value.lostSince !== undefined) return 'There is no connection.';
  if (!checked || isStale) return 'Check the instruction first. Then you can apply it.';
  if (!checked.result.feasible)
    return `Not possible: ${checked.result.refusals.map(({ detail }) => detail).join(' ') || 'nothing was changed.'}`;
  if (reason.trim() === '') return 'Give a reason.';
  return canApply && harm ? 'It cannot be taken back.' : 'It applies exactly what was checked.';
}

/** Keeps the values of the form, checks them, and applies what was checked. */
function useForm({ kind, at, order, workflow, showCheck, applied, close, sending, barred }: Props) {
  const start = useMemo(() => startValues(kind, order, workflow, at), [kind, at, workflow === undefined]);
  const draft = useDraft(`${person.value?.subject ?? ''} ${order.orderId} ${kind} ${at ?? ''}`, start);
  const values = { ...draft.value };
  const [checked, setChecked] = useState<Checked>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState<'check' | 'apply'>();
  const result = built(kind, values, start);
  const instruction = 'instruction' in result ? result.instruction : undefined;
  const text = JSON.stringify(instruction);
  const isStale = checked !== undefined && (checked.text !== text || checked.rev !== order.rev);
  const current = checked && !isStale ? checked : undefined;
  useEffect(() => showCheck(current?.result), [current?.result]);
  useEffect(() => () => showCheck(undefined), []);
  const path = `/orders/${order.orderId}/instructions`;

  const run = (what: 'check' | 'apply', work: () => Promise<void>): void => {
    setBusy(what);
    setProblem(undefined);
    work()
      .catch((error: unknown) =>
        setProblem(error instanceof Problem ? error : new Problem({ status: 0, code: 'console-error', title: String(error) })),
      )
      .finally(() => setBusy((now) => (now === what ? undefined : now)));
  };
  const doCheck = (): void => {
    if (!instruction || busy) return;
    const reason = values.reason.trim() || 'a check';
    const rev = order.rev;
    run('check', async () =>
      setChecked({ result: await post<Check>(path, { ...instruction, reason, dryRun: true }), rev, text, key: crypto.randomUUID() }),
    );
  };
  const canApply =
    current?.result.feasible === true &&
    values.reason.trim() !== '' &&
    busy !== 'apply' &&
    connection.value.lostSince === undefined &&
    has('operator');
  const apply = (): void => {
    if (!current || !instruction || !canApply || barred !== undefined) return;
    run('apply', async () => {
      const headers = { 'if-match': `"${current.rev}"`, 'idempotency-key': current.key };
      await post(sending?.path ?? path, bodyOf(instruction, values.reason, sending), { headers });
      draft.discard();
      applied(kind, values.path || (order.fault?.source ?? ''));
      close();
    });
  };
  const discard = (): void => {
    draft.discard();
    setChecked(undefined);
  };
  const missing = 'missing' in result ? result.missing : undefined;
  const isComplete = instruction !== undefined && (kind !== 'replace-input' || values.input !== start.input);
  const checksSoon =
    isComplete &&
    unfitNow(kind, order) === undefined &&
    has('operator') &&
    // If only the order has changed, an instruction whose effect cannot be taken back is not checked again by itself: a person should look
    // at the change first.
    (checked === undefined || (isStale && !(kinds[kind].harm && checked.text === text)));
  useAutomaticCheck(checksSoon && busy === undefined, `${text} ${order.rev}`, doCheck);
  return {
    checksSoon,
    values,
    change: draft.change,
    discard,
    start,
    instruction,
    missing,
    checked,
    isStale,
    problem,
    busy,
    doCheck,
    apply,
    canApply,
  };
}

/** A check begins this long after the last change of the form, so that a person who types is not interrupted. */
const typingMs = 600;

/** Checks a form by itself when it is complete: once for each `state` of the form and its order. */
function useAutomaticCheck(isDue: boolean, state: string, doCheck: () => void): void {
  const checkedFor = useRef<string | undefined>(undefined);
  const check = useRef(doCheck);
  check.current = doCheck;
  useEffect(() => {
    if (!isDue || checkedFor.current === state) return;
    const timer = setTimeout(
      () => {
        checkedFor.current = state;
        check.current();
      },
      checkedFor.current === undefined ? 0 : typingMs,
    );
    return () => clearTimeout(timer);
  }, [isDue, state]);
}
