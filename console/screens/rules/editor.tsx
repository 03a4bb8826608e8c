import { useState } from 'preact/hooks';
import { call, Problem } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { Rule } from '../../api/types.ts';
import { curlOf, ruleCommandOf } from '../../instructions/commands.ts';
import { Copies } from '../../parts/copies.tsx';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { useDraft } from '../../parts/draft.ts';
import { useKeys } from '../../parts/keys.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { toast } from '../../parts/toast.tsx';
import { go } from '../../router.ts';
import { BackTest } from './back-test.tsx';
import { Mode, type PartProps, Parts, Text, WholeJson } from './fields.tsx';
import { builtRule, formOf, type RuleForm } from './form.ts';

interface Props {
  /** Undefined: a new rule. */
  readonly rule: Rule | undefined;
  readonly refresh: () => void;
}

/** The editor of a rule. A save with an error changes nothing, and says where the error is. */
export function Editor({ rule, refresh }: Props) {
  const editor = useEditor(rule, refresh);
  const { form, change, problem, errors, isChanged, built, save, discard, busy } = editor;
  const isOfApp = rule?.origin === 'app';
  const mayWrite = has('admin');
  useKeys([{ key: 'Ctrl+Enter', what: 'Save the rule', run: save, always: true }], [save]);
  const conditionError = errors.find(({ pointer }) => pointer === '/condition');
  const others = errors.filter(({ pointer }) => pointer !== '/condition');
  const props: PartProps = { form, change, isDisabled: isOfApp || !mayWrite };
  return (
    <section class="panel" aria-label={rule ? `Rule ${rule.id}` : 'New rule'}>
      <header>
        <h2>{rule ? rule.id : 'New rule'}</h2>
        <span class="muted">{rule ? `version ${rule.version}${isChanged ? ', changed by you, not saved' : ''}` : 'not saved'}</span>
        {isOfApp ? (
          <span class="end tag">from the app</span>
        ) : (
          <button
            class="btn bare sm end"
            type="button"
            onClick={() => change({ isJson: !form.isJson, ...(form.isJson ? {} : jsonOf(built)) })}
          >
            {form.isJson ? 'Fields' : 'JSON'}
          </button>
        )}
      </header>
      <div class="body stack">
        {isOfApp && <p class="hint">The app declares this rule. Here only its mode changes.</p>}
        {rule === undefined && <Text label="Id (small letters, digits and -)" name="id" {...props} />}
        {form.isJson ? <WholeJson {...props} /> : <Parts {...props} conditionError={conditionError} />}
        <Mode {...props} isDisabled={!mayWrite} />
        {mayWrite && <Text label="Reason, for the audit" name="reason" {...props} isDisabled={false} placeholder="Why the rule changes" />}
        {(others.length > 0 || (problem && errors.length === 0)) && problem && <ProblemNote problem={problem} />}
        {mayWrite ? (
          <div class="row">
            <button
              class="btn go"
              type="button"
              disabled={'missing' in built || form.reason.trim() === '' || busy || !isChanged}
              onClick={save}
            >
              {rule ? `Save version ${rule.version + 1}` : 'Save the rule'}
            </button>
            {isChanged && (
              <button class="btn bare" type="button" onClick={discard}>
                Discard
              </button>
            )}
            <span class="hint">{'missing' in built ? built.missing : isChanged && form.reason.trim() === '' ? 'Give a reason.' : ''}</span>
          </div>
        ) : (
          <p class="hint">Writing rules needs the role admin.</p>
        )}
        <CopiesAndDelete rule={rule} editor={editor} refresh={refresh} />
      </div>
      {'body' in built && <BackTest body={built.body} id={form.id} />}
    </section>
  );
}

const jsonOf = (built: ReturnType<typeof builtRule>): Partial<RuleForm> =>
  'body' in built ? { json: JSON.stringify(built.body, null, 2) } : {};

function useEditor(rule: Rule | undefined, refresh: () => void) {
  const start = formOf(rule);
  const draft = useDraft<RuleForm>(`${person.value?.subject ?? ''} rule ${rule ? `${rule.id} ${rule.version}` : 'new'}`, start);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const form = draft.value;
  const built = builtRule(form, rule);
  const isChanged = JSON.stringify({ ...form, reason: '' }) !== JSON.stringify(start);
  const headers: { [name: string]: string } = rule ? { 'if-match': `"${rule.version}"` } : {};
  const save = (): void => {
    if ('missing' in built || form.reason.trim() === '' || busy) return;
    setBusy(true);
    setProblem(undefined);
    const id = rule?.id ?? form.id;
    call('PUT', `/rules/${encodeURIComponent(id)}`, { body: { ...built.body, reason: form.reason }, headers })
      .then(() => {
        toast(`Saved: ${id}. It takes effect within ten seconds.`);
        draft.discard();
        refresh();
        go(`/rules/${id}`);
      })
      .catch((error: unknown) => setProblem(error instanceof Problem ? error : undefined))
      .finally(() => setBusy(false));
  };
  const change = (changes: Partial<RuleForm>): void => {
    // After a change, the errors of the last save may no longer be true.
    if (!('reason' in changes)) setProblem(undefined);
    draft.change(changes);
  };
  return { form, change, built, isChanged, problem, errors: problem?.errors ?? [], save, discard: draft.discard, busy, headers };
}

interface CopiesProps extends Props {
  readonly editor: ReturnType<typeof useEditor>;
}

/** The same change at the command line and as a call, and the way to delete the rule. */
function CopiesAndDelete({ rule, editor: { built, form, headers }, refresh }: CopiesProps) {
  const [isAsking, ask] = useState(false);
  const id = rule?.id ?? form.id;
  if ('missing' in built || id === '') return null;
  const body = { ...built.body, reason: form.reason || 'why' };
  const conditions = headers['if-match'] === undefined ? {} : { 'If-Match': headers['if-match'] };
  return (
    <Copies
      command={() => ruleCommandOf(id, built.body, body.reason)}
      curl={() => curlOf({ method: 'PUT', path: `/rules/${id}`, headers: conditions, body })}
    >
      {rule && rule.origin === 'people' && has('admin') && (
        <button class="btn bare sm end c-stop" type="button" onClick={() => ask(true)}>
          Delete…
        </button>
      )}
      {rule && isAsking && (
        <DeleteDialog
          what="rule"
          id={rule.id}
          version={rule.version}
          close={() => ask(false)}
          deleted={() => {
            refresh();
            go('/rules');
          }}
        >
          <p>The rule stops acting within ten seconds. Its versions are kept. To stop it for a while, set its mode to off.</p>
        </DeleteDialog>
      )}
    </Copies>
  );
}
