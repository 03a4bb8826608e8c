import { useId } from 'preact/hooks';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import type { ProblemError } from '../api/client.ts';
import { shown } from './text.tsx';

interface Props {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly change: (value: Json) => void;
  readonly errors: readonly Pick<ProblemError, 'pointer' | 'detail'>[];
  readonly pointer?: string;
}

/** Fields for the properties of an object. A property without a simple schema keeps its value, and is edited as JSON. */
export function SchemaForm({ schema, value, change, errors, pointer = '' }: Props) {
  const properties = (schema['properties'] ?? {}) as { readonly [name: string]: JsonObject };
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const object = isObject(value) ? value : {};
  const set = (name: string, next: Json | undefined): void => {
    const { [name]: _, ...rest } = object;
    change(next === undefined ? rest : { ...object, [name]: next });
  };
  return (
    <div class="schema-form">
      {Object.entries(properties).map(([name, property]) => (
        <Property
          key={name}
          name={name}
          schema={property}
          isRequired={required.has(name)}
          value={object[name] as Json | undefined}
          change={(next) => set(name, next)}
          errors={errors}
          pointer={`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
        />
      ))}
    </div>
  );
}

interface PropertyProps extends Omit<Props, 'value' | 'change' | 'pointer'> {
  readonly name: string;
  readonly isRequired: boolean;
  readonly value: Json | undefined;
  readonly change: (value: Json | undefined) => void;
  readonly pointer: string;
}

function Property({ name, schema, isRequired, value, change, errors, pointer }: PropertyProps) {
  const id = useId();
  const wrong = errors.filter((error) => error.pointer.endsWith(pointer));
  const label = `${name}${isRequired ? '' : ' (optional)'}`;
  if (schema['type'] === 'object' && schema['properties'] !== undefined)
    return (
      <fieldset class="nested">
        <legend class="label">{label}</legend>
        <SchemaForm schema={schema} value={value ?? {}} change={change} errors={errors} pointer={pointer} />
      </fieldset>
    );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Input id={id} schema={schema} value={value} change={change} isWrong={wrong.length > 0} />
      {wrong.map(({ detail }) => (
        <p key={detail} class="wrong" id={`${id}-wrong`}>
          {shown(detail)}
        </p>
      ))}
    </div>
  );
}

interface InputProps {
  readonly id: string;
  readonly schema: JsonObject;
  readonly value: Json | undefined;
  readonly change: (value: Json | undefined) => void;
  readonly isWrong: boolean;
}

function Input({ id, schema, value, change, isWrong }: InputProps) {
  const common = { id, class: 'input', 'aria-invalid': isWrong, ...(isWrong ? { 'aria-describedby': `${id}-wrong` } : {}) };
  const choices = schema['enum'] as readonly Json[] | undefined;
  if (choices || schema['type'] === 'boolean') {
    const options = choices ?? [true, false];
    return (
      <select
        {...common}
        value={value === undefined ? '' : JSON.stringify(value)}
        onChange={({ currentTarget }) => change(currentTarget.value === '' ? undefined : (JSON.parse(currentTarget.value) as Json))}
      >
        <option value="">choose</option>
        {options.map((option) => (
          <option key={JSON.stringify(option)} value={JSON.stringify(option)}>
            {typeof option === 'string' ? option : JSON.stringify(option)}
          </option>
        ))}
      </select>
    );
  }
  if (schema['type'] === 'integer' || schema['type'] === 'number')
    return (
      <input
        {...common}
        inputMode="decimal"
        value={value === undefined ? '' : String(value)}
        onInput={({ currentTarget: { value: text } }) => {
          const read = Number(text);
          change(text.trim() === '' ? undefined : Number.isFinite(read) ? read : text);
        }}
      />
    );
  if (schema['type'] === 'string')
    return (
      <input
        {...common}
        value={typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)}
        onInput={({ currentTarget }) => change(currentTarget.value === '' && value === undefined ? undefined : currentTarget.value)}
      />
    );
  return <AnyJson {...common} value={value} change={change} />;
}

/** A value of any form. It is taken over when it is JSON. */
const AnyJson = ({ value, change, ...common }: { value: Json | undefined; change: InputProps['change']; id: string; class: string }) => (
  <textarea
    {...common}
    class="input mono"
    rows={3}
    spellcheck={false}
    value={value === undefined ? '' : JSON.stringify(value, null, 2)}
    onChange={({ currentTarget: { value: text } }) => {
      try {
        change(text.trim() === '' ? undefined : (JSON.parse(text) as Json));
      } catch {
        change(text);
      }
    }}
  />
);
