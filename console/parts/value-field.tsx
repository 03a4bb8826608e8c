import { useId, useState } from 'preact/hooks';
import type { Json, JsonObject } from '#core/data/json';
import type { ProblemError } from '../api/client.ts';
import { type DiffLine, diffOf, parsed } from './json-text.ts';
import { SchemaForm } from './schema-form.tsx';
import { shown } from './text.tsx';

interface Props {
  readonly label: string;
  /** The value as JSON; an empty text is no value. */
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly schema?: JsonObject | undefined;
  /** The value before, to which the new one is compared. */
  readonly before?: string | undefined;
  readonly errors?: readonly Pick<ProblemError, 'pointer' | 'detail'>[] | undefined;
  readonly hint?: string | undefined;
}

const hasFields = (schema: JsonObject | undefined): boolean => schema?.['type'] === 'object' && schema['properties'] !== undefined;

/** A JSON value: as fields where its schema has them, or as a text. It shows what differs from the value before. */
export function ValueField({ label, text, onText, schema, before, errors = [], hint }: Props) {
  const id = useId();
  const [wantsText, setText] = useState(false);
  const value = parsed(text === '' ? '{}' : text);
  const asText = wantsText || !value.ok || !hasFields(schema);
  const lines = before !== undefined && before !== '' && text !== before ? diffOf(before, text) : [];
  return (
    <fieldset class="field value-field">
      <div class="row between">
        <legend class="label">{label}</legend>
        {hasFields(schema) && (
          <span class="seg small">
            <button type="button" aria-pressed={!asText} disabled={!value.ok} onClick={() => setText(false)}>
              Fields
            </button>
            <button type="button" aria-pressed={asText} onClick={() => setText(true)}>
              JSON
            </button>
          </span>
        )}
      </div>
      {asText ? (
        <textarea
          class="input mono"
          aria-label={label}
          aria-invalid={errors.length > 0 || !value.ok}
          aria-describedby={`${id}-about`}
          rows={Math.min(14, Math.max(4, text.split('\n').length))}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      ) : (
        <SchemaForm
          schema={schema ?? {}}
          value={value.ok ? value.value : {}}
          errors={errors}
          foldsIds={before !== undefined}
          change={(next: Json) => onText(JSON.stringify(next, null, 2))}
        />
      )}
      <div id={`${id}-about`} class="about">
        {!value.ok && <p class="wrong">{value.problem}</p>}
        {asText && errors.map(({ pointer, detail }) => <p key={pointer + detail} class="wrong">{`${pointer}: ${shown(detail)}`}</p>)}
        {hint !== undefined && <p class="hint">{hint}</p>}
      </div>
      {lines.length > 0 && (
        <pre class="code diff" aria-label={`What differs: ${label}`} tabIndex={0}>
          {nearChanges(lines).map(({ sign, text: line }, index) => (
            <span key={index} class={sign === '-' ? 'del' : sign === '+' ? 'ins' : ''}>{`${sign} ${shown(line)}`}</span>
          ))}
        </pre>
      )}
    </fieldset>
  );
}

/** Leaves out lines that are more than two lines away from a change. */
function nearChanges(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = (index: number): boolean => lines.slice(Math.max(0, index - 2), index + 3).some(({ sign }) => sign !== ' ');
  return lines.flatMap((line, index) => (isNear(index) ? [line] : isNear(index - 1) ? [{ sign: ' ' as const, text: '  …' }] : []));
}
