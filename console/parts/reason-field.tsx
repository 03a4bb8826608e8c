interface Props {
  readonly id: string;
  readonly value: string;
  readonly onText: (reason: string) => void;
  readonly maxLength?: number;
}

/** The field for the reason of a change. The audit keeps it. */
export const ReasonField = ({ id, value, onText, maxLength }: Props) => (
  <div class="field">
    <label for={id}>Reason, for the audit</label>
    <input
      class="input"
      id={id}
      placeholder="Required"
      {...(maxLength === undefined ? {} : { maxLength })}
      value={value}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  </div>
);
