import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '#core/data/json';
import { connection, Problem, post } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { Check, Order, Suggestion, WholeTask } from '../../api/types.ts';
import { curlOf } from '../../instructions/commands.ts';
import { kindNames, kinds } from '../../instructions/kinds.ts';
import { Copies } from '../../parts/copies.tsx';
import { useDraft } from '../../parts/draft.ts';
import { Json } from '../../parts/json.tsx';
import { useKeys } from '../../parts/keys.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { SchemaForm } from '../../parts/schema-form.tsx';
import { Said } from '../../parts/text.tsx';
import { toast } from '../../parts/toast.tsx';
import { href } from '../../router.ts';
import { useCommandOf } from '../solutions/text.ts';

interface Props {
  readonly task: WholeTask;
  readonly order: Order;
  readonly suggestion: Suggestion;
  readonly showCheck: (check: Check | undefined) => void;
  readonly applied: () => void;
  /** The reason why nothing can be applied now: another person has the order, or the task. */
  readonly barred: string | undefined;
}

/** Resolves a task with a solution: its values, its check, and the button that applies exactly what was checked. */
export function UseSolution(props: Props) {
  const { task, suggestion, barred } = props;
  const { solutionId, name, instruction, parameters } = suggestion;
  const { values, reason, change, problem, current, isStale, busy, doCheck, canApply, apply, body, rev } = useSolution(props);
  const known = kindNames.find((each) => each === instruction.kind);
  const path = `/tasks/${encodeURIComponent(task.id)}/resolve`;
  useKeys(
    [
      { key: 'c', what: 'Check the solution', run: doCheck },
      { key: 'Ctrl+Enter', what: 'Apply what was checked', run: apply, always: true },
    ],
    [doCheck, apply],
  );
  return (
    <section class="panel build" aria-label={`Solution ${solutionId}`}>
      <header>
        <h2>
          <Said>{name}</Said>
        </h2>
        <a class="end" href={href(`/solutions/${solutionId}`)}>
          The solution
        </a>
      </header>
      <div class="body stack">
        <p class="hint">{known ? `It ${kinds[known].does}.` : instruction.kind}</p>
        <details>
          <summary>The instruction</summary>
          <Json value={instruction} label="Instruction" />
        </details>
        {parameters.length > 0 && (
          <SchemaForm
            schema={{
              properties: Object.fromEntries(parameters.map((each) => [each.name, each.schema as JsonObject])),
              required: parameters.map((each) => each.name),
            }}
            value={values}
            change={(next) => change({ values: next as JsonObject })}
            errors={problem?.errors ?? []}
            pointer="/parameters"
          />
        )}
        <ReasonField id="solution-reason" value={reason} onText={(next) => change({ reason: next })} maxLength={1024} />
        <div class="row">
          <button class="btn" type="button" disabled={busy} onClick={doCheck}>
            {current || isStale ? 'Check again' : 'Check'} <kbd>c</kbd>
          </button>
          <span class="hint">
            {isStale ? 'The order or the form has changed since you checked.' : 'A check sends nothing and changes nothing.'}
          </span>
        </div>
        {problem && <ProblemNote problem={problem} />}
      </div>
      <div class="apply">
        <button
          class={`btn go big ${known && kinds[known].harm ? 'harm' : ''}`}
          type="button"
          disabled={!canApply || barred !== undefined}
          onClick={apply}
        >
          {known ? kinds[known].verb : 'Apply'}
        </button>
        <p class="hint">{hintOf(barred, current, reason)}</p>
        <Copies
          command={() => useCommandOf(task.id, solutionId, values, reason)}
          curl={() => curlOf({ path, headers: { 'If-Match': `"${rev}"` }, body: { ...body, reason: reason || 'why' } })}
        />
      </div>
    </section>
  );
}

function hintOf(barred: string | undefined, check: Check | undefined, reason: string): string {
  if (!has('operator')) return 'You can only read here. A change needs the role operator.';
  if (barred !== undefined) return barred;
  if (connection.value.lostSince !== undefined) return 'There is no connection.';
  if (!check) return 'Check the solution first.';
  if (!check.feasible) return 'It is not possible. Nothing was changed.';
  return reason.trim() === '' ? 'Give a reason.' : 'It applies exactly what was checked.';
}

type Typed = { readonly values: JsonObject; readonly reason: string };

/** Keeps the values and the reason, checks them on the order, and applies what was checked. */
function useSolution({ task, order, suggestion: { solutionId, name, parameters }, showCheck, applied, barred }: Props) {
  const draft = useDraft<Typed>(`${person.value?.subject ?? ''} ${task.id} solution ${solutionId}`, { values: {}, reason: '' });
  const { values, reason } = draft.value;
  const [checked, setChecked] = useState<{ result: Check; rev: number; text: string; key: string }>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const body = { solutionId, ...(parameters.length > 0 ? { parameters: values } : {}) };
  const text = JSON.stringify(body);
  const isStale = checked !== undefined && (checked.text !== text || checked.rev !== order.rev);
  const current = isStale ? undefined : checked?.result;
  useEffect(() => showCheck(current), [current]);
  useEffect(() => () => showCheck(undefined), []);
  const path = `/tasks/${encodeURIComponent(task.id)}/resolve`;
  const run = (work: () => Promise<void>): void => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    work()
      .catch((error: unknown) =>
        setProblem(error instanceof Problem ? error : new Problem({ status: 0, code: 'console-error', title: String(error) })),
      )
      .finally(() => setBusy(false));
  };
  const doCheck = (): void =>
    run(async () => {
      const { rev } = order;
      const result = await post<Check>(path, { ...body, reason: reason.trim() || 'a check', dryRun: true });
      setChecked({ result, rev, text, key: crypto.randomUUID() });
    });
  const isAllowed = has('operator') && connection.value.lostSince === undefined && !busy && barred === undefined;
  const canApply = current?.feasible === true && reason.trim() !== '' && isAllowed;
  const apply = (): void => {
    if (!checked || !canApply) return;
    run(async () => {
      const headers = { 'if-match': `"${checked.rev}"`, 'idempotency-key': checked.key };
      await post(path, { ...body, reason }, { headers });
      toast(`Applied: ${name}.`, 'work');
      draft.discard();
      applied();
    });
  };
  const change = (changes: Partial<Typed>): void => {
    if ('values' in changes) setProblem(undefined);
    draft.change(changes);
  };
  return { values, reason, change, problem, current, isStale, busy, doCheck, canApply, apply, body, rev: checked?.rev ?? order.rev };
}
