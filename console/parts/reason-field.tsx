import { useEffect, useRef } from 'preact/hooks';

interface Props {
  readonly id: string;
  readonly value: string;
  readonly onText: (reason: string) => void;
  readonly maxLength?: number;
  /** The only value that the form needs: it has the focus when the form is shown. */
  readonly isFirst?: boolean;
}

/** The field for the reason of a change. The audit keeps it. */
export function ReasonField({ id, value, onText, maxLength, isFirst = false }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // A phone would open its keyboard over the page.
    if (isFirst && !matchMedia('(pointer: coarse)').matches) input.current?.focus();
  }, []);
  return (
    <div class="field">
      <label for={id}>Reason, for the audit</label>
      <input
        ref={input}
        class="input"
        id={id}
        placeholder="Required"
        {...(maxLength === undefined ? {} : { maxLength })}
        value={value}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
    </div>
  );
}
