import { shown } from '../../parts/text.tsx';

export interface ConditionError {
  readonly detail: string;
  /** The place of the error: the number of its character in the whole text, from 1. */
  readonly column?: number | undefined;
}

interface Props {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly error: ConditionError | undefined;
  readonly isDisabled: boolean;
}

/** The place of a character: its line and its column, from 1. */
function placeOf(text: string, column: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, column - 1).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The word at a place, and the word that the error proposes. */
function proposal(text: string, { detail, column }: ConditionError): { readonly wrong: string; readonly right: string } | undefined {
  const right = /Did you mean "([\w.-]+)"/.exec(detail)?.[1];
  const wrong = column === undefined ? undefined : /^\w+/.exec(text.slice(column - 1))?.[0];
  return right !== undefined && wrong !== undefined ? { wrong, right } : undefined;
}

/** The editor of a condition in CEL. An error stands under its column, with the correction as a button. */
export function Condition({ text, onText, error, isDisabled }: Props) {
  const at = error?.column === undefined ? undefined : placeOf(text, error.column);
  const fix = error && proposal(text, error);
  const lines = text.split('\n');
  return (
    <div class="field">
      <label for="rule-condition">And this is true (CEL; empty: always)</label>
      <textarea
        class="input mono"
        id="rule-condition"
        rows={Math.min(10, Math.max(2, lines.length))}
        spellcheck={false}
        disabled={isDisabled}
        aria-invalid={error !== undefined}
        aria-describedby={error ? 'rule-condition-error' : undefined}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      {error && at && (
        <div class="editor bad" aria-hidden="true">
          <pre>
            <span class="ln">{at.line}</span>
            {`${shown(lines[at.line - 1] ?? '')}\n`}
            <span class="oops">{`${' '.repeat(4 + at.column - 1)}^ ${shown(error.detail.split('. ')[0] ?? '')}`}</span>
          </pre>
        </div>
      )}
      {error && (
        <div class="row between" id="rule-condition-error" role="alert">
          <span class="c-stop strong">{`${at ? `Line ${at.line}, column ${at.column}: ` : ''}${shown(error.detail)}`}</span>
          {fix && error.column !== undefined && (
            <button
              class="btn sm"
              type="button"
              onClick={() =>
                onText(text.slice(0, (error.column ?? 1) - 1) + fix.right + text.slice((error.column ?? 1) - 1 + fix.wrong.length))
              }
            >
              {`Use ${fix.right}`}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
