import { useState } from 'preact/hooks';
import { call, Problem } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { Rule } from '../../api/types.ts';
import { curlOf, ruleCommandOf } from '../../instructions/commands.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useDraft } from '../../parts/draft.ts';
import { Icon } from '../../parts/icon.tsx';
import { useKeys } from '../../parts/keys.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { copy, toast } from '../../parts/toast.tsx';
import { go } from '../../router.ts';
import { BackTest } from './back-test.tsx';
import { Condition } from './condition.tsx';
import { builtRule, formOf, type RuleForm } from './form.ts';
import { actionNames, actions, eventNames, modes } from './text.ts';

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
        <Copies rule={rule} editor={editor} refresh={refresh} />
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

interface PartProps {
  readonly form: RuleForm;
  readonly change: (changes: Partial<RuleForm>) => void;
  readonly isDisabled: boolean;
}

type TextName = Exclude<keyof RuleForm, 'isJson'>;

const Text = ({
  label,
  name,
  form,
  change,
  isDisabled,
  placeholder = '',
}: PartProps & { label: string; name: TextName; placeholder?: string }) => (
  <div class="field">
    <label for={`rule-${name}`}>{label}</label>
    <input
      class="input"
      id={`rule-${name}`}
      disabled={isDisabled}
      placeholder={placeholder}
      value={form[name]}
      onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
    />
  </div>
);

interface ChooseProps extends PartProps {
  readonly label: string;
  readonly name: 'event' | 'action';
  readonly names: { readonly [value: string]: string };
}

const Choose = ({ label, name, names, form, change, isDisabled }: ChooseProps) => (
  <div class="field">
    <label for={`rule-${name}`}>{label}</label>
    <select
      class="input"
      id={`rule-${name}`}
      disabled={isDisabled}
      value={form[name]}
      onChange={({ currentTarget: { value } }) =>
        change({
          [name]: value,
          ...(name === 'action' ? { details: JSON.stringify(actions[value as keyof typeof actions].fields, null, 2) } : {}),
        })
      }
    >
      {Object.entries(names).map(([value, means]) => (
        <option key={value} value={value}>
          {means}
        </option>
      ))}
    </select>
  </div>
);

const needsTime = new Set(['step-late', 'order-age']);

function Parts({ conditionError, ...props }: PartProps & { conditionError: { detail: string; column?: number } | undefined }) {
  const { form, change, isDisabled } = props;
  return (
    <>
      <Text label="Name" name="name" {...props} placeholder={form.id} />
      <div class="grid2">
        <Choose label="When" name="event" names={eventNames} {...props} />
        {needsTime.has(form.event) ? (
          <Text label="After seconds" name="afterSeconds" {...props} />
        ) : (
          <Text label={form.event === 'exception' ? 'Fault (empty: any)' : 'Type (empty: any)'} name="type" {...props} />
        )}
        <Text label="In workflow (empty: any)" name="workflow" {...props} />
        <Text label="At step (empty: any)" name="step" {...props} />
      </div>
      <Condition text={form.condition} onText={(condition) => change({ condition })} error={conditionError} isDisabled={isDisabled} />
      <div class="grid2">
        <Choose label="Do" name="action" names={actionNames} {...props} />
        <div class="grid2">
          <Text label="Priority" name="priority" {...props} />
          <Text label="Times per order" name="timesPerOrder" {...props} />
        </div>
      </div>
      {form.action !== 'compensate' && form.action !== 'suspend' && (
        <div class="field">
          <label for="rule-details">With (JSON)</label>
          <textarea
            class="input mono"
            id="rule-details"
            rows={Math.min(10, Math.max(3, form.details.split('\n').length))}
            spellcheck={false}
            disabled={isDisabled}
            value={form.details}
            onInput={({ currentTarget }) => change({ details: currentTarget.value })}
          />
        </div>
      )}
    </>
  );
}

const WholeJson = ({ form, change, isDisabled }: PartProps) => (
  <div class="field">
    <label for="rule-json">The whole rule</label>
    <textarea
      class="input mono"
      id="rule-json"
      rows={20}
      spellcheck={false}
      disabled={isDisabled}
      value={form.json}
      onInput={({ currentTarget }) => change({ json: currentTarget.value })}
    />
  </div>
);

const Mode = ({ form, change, isDisabled }: PartProps) => {
  const choose = (mode: string): void =>
    change({ mode, ...(form.isJson ? { json: form.json.replace(/"mode": "[a-z-]+"/, `"mode": "${mode}"`) } : {}) });
  return (
    <div class="field">
      <span class="label" id="rule-mode">
        Mode
      </span>
      <div class="seg" role="group" aria-labelledby="rule-mode">
        {Object.entries(modes).map(([mode, { name }]) => (
          <button key={mode} type="button" disabled={isDisabled} aria-pressed={form.mode === mode} onClick={() => choose(mode)}>
            {name}
          </button>
        ))}
      </div>
      <p class="hint">{modes[form.mode as Rule['mode']]?.means}</p>
    </div>
  );
};

interface CopiesProps extends Props {
  readonly editor: ReturnType<typeof useEditor>;
}

/** The same change at the command line and as a call, and the way to delete the rule. */
function Copies({ rule, editor: { built, form, headers }, refresh }: CopiesProps) {
  const [isAsking, ask] = useState(false);
  const id = rule?.id ?? form.id;
  if ('missing' in built || id === '') return null;
  const body = { ...built.body, reason: form.reason || 'why' };
  const conditions = headers['if-match'] === undefined ? {} : { 'If-Match': headers['if-match'] };
  return (
    <div class="row copies">
      <button class="btn bare sm" type="button" onClick={() => copy(ruleCommandOf(id, built.body, body.reason), 'the command')}>
        <Icon name="cli" />
        Copy as command
      </button>
      <button
        class="btn bare sm"
        type="button"
        onClick={() => copy(curlOf({ method: 'PUT', path: `/rules/${id}`, headers: conditions, body }), 'the call')}
      >
        as curl
      </button>
      {rule && rule.origin === 'people' && has('admin') && (
        <button class="btn bare sm end c-stop" type="button" onClick={() => ask(true)}>
          Delete…
        </button>
      )}
      {rule && isAsking && <DeleteDialog rule={rule} close={() => ask(false)} refresh={refresh} />}
    </div>
  );
}

function DeleteDialog({ rule, close, refresh }: { rule: Rule; close: () => void; refresh: () => void }) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const remove = (): void => {
    call('DELETE', `/rules/${rule.id}?reason=${encodeURIComponent(reason)}`, { headers: { 'if-match': `"${rule.version}"` } }).then(
      () => {
        toast(`Deleted: ${rule.id}. Its versions are kept.`);
        close();
        refresh();
        go('/rules');
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Dialog
      title={`Delete ${rule.id}?`}
      close={close}
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            Back
          </button>
          <button class="btn go harm" type="button" disabled={reason.trim() === ''} onClick={remove}>
            Delete the rule
          </button>
        </>
      }
    >
      <p>The rule stops acting within ten seconds. Its versions are kept. To stop it for a while, set its mode to off.</p>
      <ReasonField id="delete-reason" value={reason} onText={setReason} />
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
