import { useState } from 'preact/hooks';
import { call, Problem } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { Solution } from '../../api/types.ts';
import { curlOf } from '../../instructions/commands.ts';
import { Copies } from '../../parts/copies.tsx';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { useDraft } from '../../parts/draft.ts';
import { useKeys } from '../../parts/keys.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { shown } from '../../parts/text.tsx';
import { toast } from '../../parts/toast.tsx';
import { go } from '../../router.ts';
import { builtSolution, formOf, type SolutionForm } from './form.ts';
import { solutionCommandOf } from './text.ts';

interface Props {
  /** Undefined: a new solution. */
  readonly solution: Solution | undefined;
  readonly refresh: () => void;
}

/** The editor of a solution. A save with an error changes nothing, and says where the error is. */
export function Editor({ solution, refresh }: Props) {
  const { form, change, built, isChanged, problem, save, discard, busy } = useEditor(solution, refresh);
  const mayWrite = has('operator');
  useKeys([{ key: 'Ctrl+Enter', what: 'Save the solution', run: save, always: true }], [save]);
  const props: FieldProps = { form, change, isDisabled: !mayWrite, problem };
  const hasPlace = (pointer: string): boolean => parts.some((part) => pointer === part || pointer.startsWith(`${part}/`));
  return (
    <section class="panel" aria-label={solution ? `Solution ${solution.id}` : 'New solution'}>
      <header>
        <h2>{solution ? solution.id : 'New solution'}</h2>
        <span class="muted">{solution ? `version ${solution.version}${isChanged ? ', changed by you, not saved' : ''}` : 'not saved'}</span>
      </header>
      <div class="body stack">
        {solution === undefined && <Field label="Id (small letters, digits and -)" name="id" {...props} />}
        <Field label="Name" name="name" {...props} />
        <Field label="Applies when (CEL over exception and order; empty: by fingerprint)" name="appliesWhen" isCode {...props} />
        <Field label="Fingerprints of exceptions, with commas" name="fingerprints" {...props} />
        <Field label="Instruction (JSON; {{name}} stands for a parameter)" name="instruction" isCode {...props} />
        <Field label="Parameters (JSON: name and schema of each)" name="parameters" isCode {...props} />
        {problem?.errors.every(({ pointer }) => !hasPlace(pointer)) && <ProblemNote problem={problem} />}
        {mayWrite ? (
          <>
            <ReasonField id="solution-reason" value={form.reason} onText={(reason) => change({ reason })} maxLength={1024} />
            <div class="row">
              <button
                class="btn go"
                type="button"
                disabled={'missing' in built || form.reason.trim() === '' || busy || !isChanged}
                onClick={save}
              >
                {solution ? `Save version ${solution.version + 1}` : 'Save the solution'}
              </button>
              {isChanged && (
                <button class="btn bare" type="button" onClick={discard}>
                  Discard
                </button>
              )}
              <span class="hint">
                {'missing' in built ? built.missing : isChanged && form.reason.trim() === '' ? 'Give a reason.' : ''}
              </span>
            </div>
            <CopiesAndDelete solution={solution} form={form} refresh={refresh} />
          </>
        ) : (
          <p class="hint">Writing solutions needs the role operator.</p>
        )}
      </div>
    </section>
  );
}

function useEditor(solution: Solution | undefined, refresh: () => void) {
  const start = formOf(solution);
  const key = `${person.value?.subject ?? ''} solution ${solution ? `${solution.id} ${solution.version}` : 'new'}`;
  const draft = useDraft<SolutionForm>(key, start);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const form = draft.value;
  const built = builtSolution(form);
  const isChanged = JSON.stringify({ ...form, reason: '' }) !== JSON.stringify(start);
  const save = (): void => {
    if ('missing' in built || form.reason.trim() === '' || busy || !isChanged) return;
    setBusy(true);
    setProblem(undefined);
    const headers: { [name: string]: string } = solution ? { 'if-match': `"${solution.version}"` } : {};
    call('PUT', `/solutions/${encodeURIComponent(form.id)}`, { body: { ...built.body, reason: form.reason }, headers })
      .then(() => {
        toast(`Saved: ${form.id}.`);
        draft.discard();
        refresh();
        go(`/solutions/${form.id}`);
      })
      .catch((error: unknown) => setProblem(error instanceof Problem ? error : undefined))
      .finally(() => setBusy(false));
  };
  const change = (changes: Partial<SolutionForm>): void => {
    // After a change, the errors of the last save may no longer be true.
    if (!('reason' in changes)) setProblem(undefined);
    draft.change(changes);
  };
  return { form, change, built, isChanged, problem, save, discard: draft.discard, busy };
}

/** The places of errors that have a field. */
const parts = ['/name', '/appliesWhen', '/fingerprints', '/instruction', '/parameters'];

interface FieldProps {
  readonly form: SolutionForm;
  readonly change: (changes: Partial<SolutionForm>) => void;
  readonly isDisabled: boolean;
  readonly problem: Problem | undefined;
}

/** A field with the errors of its part. Code has a line for each of its lines. */
function Field({ label, name, isCode, form, change, isDisabled, problem }: FieldProps & FieldName) {
  const id = `solution-${name}`;
  const errors = (problem?.errors ?? []).filter(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));
  const common = { id, disabled: isDisabled, value: form[name], 'aria-invalid': errors.length > 0, 'aria-describedby': `${id}-errors` };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isCode ? (
        <textarea
          {...common}
          class="input mono"
          rows={Math.min(14, Math.max(2, form[name].split('\n').length))}
          spellcheck={false}
          onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      ) : (
        <input {...common} class="input" onInput={({ currentTarget }) => change({ [name]: currentTarget.value })} />
      )}
      <div id={`${id}-errors`} role="alert">
        {errors.map(({ pointer, detail, column }) => (
          <p key={pointer + detail} class="wrong">
            {`${pointer}${column === undefined ? '' : `, column ${column}`}: ${shown(detail)}`}
          </p>
        ))}
      </div>
    </div>
  );
}

interface FieldName {
  readonly label: string;
  readonly name: keyof SolutionForm;
  readonly isCode?: boolean;
}

/** The same change at the command line and as a call, and the way to delete the solution. */
function CopiesAndDelete({ solution, form, refresh }: Props & { readonly form: SolutionForm }) {
  const [isAsking, ask] = useState(false);
  const built = builtSolution(form);
  if ('missing' in built) return null;
  const reason = form.reason || 'why';
  const headers: { [name: string]: string } = solution ? { 'If-Match': `"${solution.version}"` } : {};
  return (
    <Copies
      command={() => solutionCommandOf(form.id, built.body, reason)}
      curl={() => curlOf({ method: 'PUT', path: `/solutions/${form.id}`, headers, body: { ...built.body, reason } })}
    >
      {solution && (
        <button class="btn bare sm end c-stop" type="button" onClick={() => ask(true)}>
          Delete…
        </button>
      )}
      {solution && isAsking && (
        <DeleteDialog
          what="solution"
          id={solution.id}
          version={solution.version}
          close={() => ask(false)}
          deleted={() => {
            refresh();
            go('/solutions');
          }}
        >
          <p>No task suggests it any more. Tasks that it resolved still name it.</p>
        </DeleteDialog>
      )}
    </Copies>
  );
}
