import { apiPath, get, type Problem } from '../../api/client.ts';
import { has } from '../../api/session.ts';
import type { AuditEntry, Solution } from '../../api/types.ts';
import { EditorFoot, SaveRow } from '../../parts/editor-foot.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { shown } from '../../parts/text.tsx';
import { type Author, type Editor as Edited, useEditor } from '../../parts/use-editor.ts';
import { builtSolution, formOf, type SolutionForm } from './form.ts';
import { solutionCommandOf } from './text.ts';

interface Props {
  /** The solution that is edited; undefined for a new one. */
  readonly solution: Solution | undefined;
  readonly refresh: () => void;
}

/** The editor of a solution. A save with an error changes nothing, and says where the error is. */
export function Editor({ solution, refresh }: Props) {
  const editor: Edited<SolutionForm> = useEditor({ what: 'solution', item: solution, formOf, build: builtSolution, authorOf, refresh });
  const { form, change, isChanged, problem } = editor;
  const mayWrite = has('operator');
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
            <SaveRow what="solution" version={solution?.version} editor={editor} />
            <EditorFoot what="solution" item={solution} editor={editor} commandOf={solutionCommandOf} mayDelete refresh={refresh}>
              <p>No task suggests it any more. Tasks that it resolved still name it.</p>
            </EditorFoot>
          </>
        ) : (
          <p class="hint">Writing solutions needs the role operator.</p>
        )}
      </div>
    </section>
  );
}

async function authorOf(id: string): Promise<Author | undefined> {
  const { items } = await get<{ readonly items: readonly AuditEntry[] }>(apiPath('/audit', { kind: 'solution', target: id, limit: 1 }));
  return items[0];
}

/** JSON pointers of the parts that have a field, which shows their errors. */
const parts = ['/name', '/appliesWhen', '/fingerprints', '/instruction', '/parameters'];

interface FieldProps {
  readonly form: SolutionForm;
  readonly change: (changes: Partial<SolutionForm>) => void;
  readonly isDisabled: boolean;
  readonly problem: Problem | undefined;
}

/** A field with the errors of its part. A code field is as high as its text, within limits. */
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
