import type { Rule } from '../../api/types.ts';
import { Condition } from './condition.tsx';
import type { RuleForm } from './form.ts';
import { actionNames, actions, eventNames, modes } from './text.ts';

export interface PartProps {
  readonly form: RuleForm;
  readonly change: (changes: Partial<RuleForm>) => void;
  readonly isDisabled: boolean;
}

type TextName = Exclude<keyof RuleForm, 'isJson'>;

export const Text = ({
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

/** The fields of a rule with one event. */
export function Parts({ conditionError, ...props }: PartProps & { conditionError: { detail: string; column?: number } | undefined }) {
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

export const WholeJson = ({ form, change, isDisabled }: PartProps) => (
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

export const Mode = ({ form, change, isDisabled }: PartProps) => {
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
