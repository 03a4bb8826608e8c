import { useId, useState } from 'preact/hooks';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import type { ProblemError } from '../api/client.ts';
import { shown } from './text.tsx';

interface Props {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly change: (value: Json) => void;
  readonly errors: readonly Pick<ProblemError, 'pointer' | 'detail'>[];
  readonly pointer?: string;
  /** Folds the ids that have a value: a correction is seldom about an id. */
  readonly foldsIds?: boolean | undefined;
}

const isId = (name: string): boolean => /(^id|Id|Key)$/.test(name);

/** Fields for the properties of an object. A property without a simple schema keeps its value, and is edited as JSON. */
export function SchemaForm({ schema, value, change, errors, pointer = '', foldsIds = false }: Props) {
  const properties = (schema['properties'] ?? {}) as { readonly [name: string]: JsonObject };
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const object = isObject(value) ? value : {};
  const names = Object.keys(properties);
  // A field that has a value when the form opens stays folded while it is changed.
  const [folded] = useState(() => new Set(foldsIds ? names.filter((name) => isId(name) && object[name] !== undefined) : []));
  const set = (name: string, next: Json | undefined): void => {
    const { [name]: _, ...rest } = object;
    change(next === undefined ? rest : { ...object, [name]: next });
  };
  const field = (name: string) => (
    <Property
      key={name}
      name={name}
      schema={properties[name] ?? {}}
      isRequired={required.has(name)}
      value={object[name] as Json | undefined}
      change={(next) => set(name, next)}
      errors={errors}
      pointer={`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
      foldsIds={foldsIds}
    />
  );
  return (
    <div class="schema-form">
      {names.filter((name) => !folded.has(name)).map(field)}
      {folded.size > 0 && (
        <details class="folded-ids" open={errors.some((error) => folded.has(error.pointer.split('/').at(-1) ?? ''))}>
          <summary>{`${[...folded].join(', ')}: change it only if it is wrong`}</summary>
          {names.filter((name) => folded.has(name)).map(field)}
        </details>
      )}
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

function Property({ name, schema, isRequired, value, change, errors, pointer, foldsIds }: PropertyProps) {
  const id = useId();
  const wrong = errors.filter((error) => error.pointer.endsWith(pointer));
  const label = `${name}${isRequired ? '' : ' (optional)'}`;
  if (schema['type'] === 'object' && schema['properties'] !== undefined)
    return (
      <fieldset class="nested">
        <legend class="label">{label}</legend>
        <SchemaForm schema={schema} value={value ?? {}} change={change} errors={errors} pointer={pointer} foldsIds={foldsIds} />
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

/** A field for any JSON value. A text that is not valid JSON becomes a string. */
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
