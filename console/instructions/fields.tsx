import type { JSX } from 'preact';
import type { ProblemError } from '../api/client.ts';
import { usePoll } from '../api/poll.ts';
import type { InstructionKind, ListedWorkflow, Order, Workflow } from '../api/types.ts';
import { definitionPath } from '../graph/look.ts';
import { stepName } from '../parts/text.tsx';
import { ValueField } from '../parts/value-field.tsx';
import { type FieldName, pathsFor, schemaFor, type Values } from './kinds.ts';

export interface FieldProps {
  readonly kind: InstructionKind;
  readonly values: Values;
  readonly start: Values;
  readonly change: (changes: Partial<Values>) => void;
  readonly order: Order;
  readonly workflow: Workflow | undefined;
  readonly errors: readonly Pick<ProblemError, 'pointer' | 'detail'>[];
}

/** The form field for each value of an instruction. A new value needs a line here. */
const fields: { readonly [name in FieldName]: (props: FieldProps) => JSX.Element | null } = {
  path: Path,
  input: (props) => (
    <Value {...props} name="input" label={`New input of ${stepName(props.values.path)}`} hint={secretHint(props.start.input)} />
  ),
  output: Output,
  effect: (props) => (
    <Choice
      {...props}
      name="effect"
      label="Was the step done by hand?"
      choices={[
        ['done', 'Yes', 'The output below counts as the answer of the step, and the step can be undone later.'],
        ['none', 'No', 'Nothing is undone later.'],
      ]}
    />
  ),
  undoBetween: (props) => (
    <Choice
      {...props}
      name="undoBetween"
      label="Undo the steps done since the chosen step?"
      choices={[
        ['yes', 'Yes', 'These steps are undone first, and run again under new keys.'],
        ['no', 'No', 'They stay done, and are not requested again.'],
      ]}
    />
  ),
  answer: (props) =>
    props.order.fault?.type === 'OperatorAsked' ? <Value {...props} name="answer" label={`Answer: ${props.order.fault.message}`} /> : null,
  completeWithinSeconds: (props) => (
    <Line {...props} name="completeWithinSeconds" label="Time limit of the whole order, in seconds from now (optional)" mode="numeric" />
  ),
  endBy: (props) => <Line {...props} name="endBy" label="The order must end by (optional)" type="datetime-local" />,
  maxFailures: (props) => <Line {...props} name="maxFailures" label="How often a step may be late (optional)" mode="numeric" />,
  retryPath: RetryPath,
  retries: (props) => (props.values.retryPath === '' ? null : <Line {...props} name="retries" label="Further runs" mode="numeric" />),
  intervalSeconds: (props) =>
    props.values.retryPath === '' ? null : <Line {...props} name="intervalSeconds" label="Seconds between the runs" mode="decimal" />,
  variables: (props) =>
    props.workflow && props.workflow.variables.length > 0 ? (
      <Value {...props} name="variables" label={`Variables: ${props.workflow.variables.join(', ')} (optional)`} />
    ) : null,
  handlerWorkflow: HandlerWorkflow,
  handledFault: (props) =>
    props.values.handlerWorkflow === '' ? null : <Line {...props} name="handledFault" label="Exceptions with this fault" />,
  order: (props) => <Value {...props} name="order" label="Body of the new order" hint={secretHint(props.start.order)} />,
  version: (props) => (
    <Line
      {...props}
      name="version"
      label={props.kind === 'migrate' ? 'Version of the workflow' : 'Version of the workflow (optional)'}
      mode="numeric"
    />
  ),
  undoFirst: (props) => (
    <Choice
      {...props}
      name="undoFirst"
      label="Undo everything first?"
      choices={[
        ['yes', 'Yes', 'The new order begins after the last undo.'],
        ['no', 'No', 'This order ends as it is.'],
      ]}
    />
  ),
  keepEffects: ({ values, change }) =>
    values.undoFirst === 'no' ? (
      <label class="row">
        <input
          class="box"
          type="checkbox"
          checked={values.keepEffects}
          onChange={({ currentTarget }) => change({ keepEffects: currentTarget.checked })}
        />
        The effects of this order may stay, although the new order repeats them.
      </label>
    ) : null,
};

const secretHint = (text: string): string | undefined =>
  text.includes('"[secret]"') ? '[secret] keeps the secret that is there.' : undefined;

export const Fields = ({ names, ...props }: FieldProps & { names: readonly FieldName[] }) => (
  <>
    {names.map((name) => {
      const Field = fields[name];
      return <Field key={name} {...props} />;
    })}
  </>
);

function Path({ kind, values, start, change, order, workflow }: FieldProps) {
  const paths = pathsFor(kind, order, workflow);
  const choose = (path: string): void => {
    const input = order.steps.find((step) => step.path === path)?.input;
    const isUntouched = values.input === start.input || values.input === '';
    change({
      path,
      ...(kind === 'replace-input' && isUntouched ? { input: input === undefined ? '' : JSON.stringify(input, null, 2) } : {}),
    });
  };
  const isOptional = kind === 'compensate';
  if (isOptional && paths.length === 0) return null;
  const none = isOptional ? 'the whole order' : paths.length === 0 ? 'no step fits' : 'choose a step';
  return (
    <div class="field">
      <label for="instruct-path">{isOptional ? 'Undo' : 'At'}</label>
      <select class="input" id="instruct-path" value={values.path} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {(isOptional || paths.length === 0 || values.path === '') && <option value="">{none}</option>}
        {paths.map((path) => (
          <option key={path} value={path}>
            {isOptional ? `only ${path}; then the order goes on after it` : `${stepName(path)} (${path})`}
          </option>
        ))}
      </select>
    </div>
  );
}

function RetryPath({ values, change, workflow }: FieldProps) {
  const retries = (workflow?.steps ?? []).filter(({ path }) => path.includes('/retry'));
  if (retries.length === 0) return null;
  return (
    <div class="field">
      <label for="instruct-retry">Change the retry around a step (optional)</label>
      <select
        class="input"
        id="instruct-retry"
        value={values.retryPath}
        onChange={({ currentTarget }) => change({ retryPath: currentTarget.value })}
      >
        <option value="">none</option>
        {retries.map(({ path, name }) => (
          <option key={path} value={path}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function HandlerWorkflow({ kind, values, change, errors }: FieldProps) {
  const workflows = usePoll<{ items: readonly ListedWorkflow[] }>('/workflows?limit=100', 60_000);
  const wrong = errors.filter(({ pointer }) => pointer.startsWith('/handle') || pointer === '/workflow');
  return (
    <div class="field">
      <label for="instruct-handler">
        {kind === 'handle' ? 'Workflow that handles the exception' : 'Another workflow that handles exceptions of this order (optional)'}
      </label>
      <select
        class="input"
        id="instruct-handler"
        value={values.handlerWorkflow}
        onChange={({ currentTarget }) => change({ handlerWorkflow: currentTarget.value })}
      >
        <option value="">{kind === 'handle' ? 'choose a workflow' : 'none'}</option>
        {[...new Set(workflows.data?.items.map(({ name }) => name))].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {wrong.map(({ detail }) => (
        <p key={detail} class="wrong">
          {detail}
        </p>
      ))}
    </div>
  );
}

interface NamedField {
  readonly name: FieldName;
  readonly label: string;
}

const errorsOf = (errors: FieldProps['errors'], name: string): FieldProps['errors'] =>
  errors.filter(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));

function Value({
  name,
  label,
  hint,
  values,
  start,
  change,
  order,
  workflow,
  errors,
}: FieldProps & NamedField & { hint?: string | undefined }) {
  return (
    <ValueField
      key={`${name} ${values.path}`}
      label={label}
      text={String(values[name])}
      onText={(text) => change({ [name]: text })}
      schema={schemaFor(name, values, order, workflow)}
      before={name === 'input' || name === 'order' ? String(start[name]) : undefined}
      errors={errorsOf(errors, name)}
      hint={hint}
    />
  );
}

function Output(props: FieldProps) {
  const step = props.workflow?.steps.find(({ path }) => path === definitionPath(props.values.path));
  return <Value {...props} name="output" label={`Output of ${step?.name ?? 'the step'}, as if it had answered`} />;
}

type LineProps = FieldProps & NamedField & { mode?: 'numeric' | 'decimal'; type?: 'text' | 'datetime-local' };

const Line = ({ name, label, mode, type = 'text', values, change, errors }: LineProps) => {
  const wrong = errorsOf(errors, name);
  return (
    <div class="field">
      <label for={`instruct-${name}`}>{label}</label>
      <input
        class="input"
        id={`instruct-${name}`}
        {...({ type } as { type: 'text' })}
        {...(mode ? { inputMode: mode } : {})}
        aria-invalid={wrong.length > 0}
        value={String(values[name])}
        onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
      />
      {wrong.map(({ detail }) => (
        <p key={detail} class="wrong">
          {detail}
        </p>
      ))}
    </div>
  );
};

type ChoiceProps = FieldProps & NamedField & { choices: readonly (readonly [value: string, name: string, means: string])[] };

const Choice = ({ name, label, choices, values, change }: ChoiceProps) => (
  <fieldset class="field">
    <legend class="label">{label}</legend>
    {choices.map(([value, word, means]) => (
      <label key={value} class={`opt ${values[name] === value ? 'on' : ''}`}>
        <input type="radio" name={`instruct-${name}`} checked={values[name] === value} onChange={() => change({ [name]: value })} />
        <b>{word}</b>
        <span class="sub">{means}</span>
      </label>
    ))}
  </fieldset>
);
