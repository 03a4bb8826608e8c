import { useState } from 'preact/hooks';
import type { Check, HistoryEntry, InstructionKind, Order, WholeTask, Workflow } from '../../api/types.ts';
import { Builder } from '../../instructions/builder.tsx';
import { quoted, taskCommandOf } from '../../instructions/commands.ts';
import { setQuery } from '../../router.ts';

interface Props {
  readonly kind: InstructionKind;
  readonly task: WholeTask;
  readonly order: Order;
  readonly workflow: Workflow | undefined;
  readonly entries: readonly HistoryEntry[];
  readonly showCheck: (check: Check | undefined) => void;
  readonly applied: () => void;
  readonly barred: string | undefined;
}

/** Resolves a task with an instruction of the person's own. If the person gives it a name, it is saved as a solution. */
export function Own({ kind, task, showCheck, ...props }: Props) {
  const [name, setName] = useState('');
  const saveAs = name.trim();
  return (
    <Builder
      {...props}
      kind={kind}
      at={task.fault?.source}
      changeKind={(next) => setQuery({ do: next })}
      close={() => setQuery({ do: undefined })}
      showCheck={showCheck}
      sending={{
        path: `/tasks/${encodeURIComponent(task.id)}/resolve`,
        more: saveAs === '' ? {} : { saveAs: { name: saveAs } },
        commandOf: (instruction, reason) =>
          `${taskCommandOf(task.id, instruction, reason)}${saveAs === '' ? '' : ` --save-as ${quoted(saveAs)}`}`,
        fields: (
          <div class="field">
            <label for="save-as">Keep it as a solution named (empty: do not keep it)</label>
            <input class="input" id="save-as" maxLength={128} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
          </div>
        ),
      }}
      isPartOfPage
    />
  );
}
