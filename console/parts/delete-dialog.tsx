import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call, Problem } from '../api/client.ts';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './problem.tsx';
import { ReasonField } from './reason-field.tsx';
import { toast } from './toast.tsx';

interface Props {
  readonly what: 'rule' | 'solution';
  readonly id: string;
  /** The version that the person has read. If somebody has saved another version meanwhile, nothing is deleted. */
  readonly version: number;
  readonly close: () => void;
  readonly deleted: () => void;
  /** The consequences of the deletion. */
  readonly children: ComponentChildren;
}

/** Asks for the reason of a deletion, and deletes. */
export function DeleteDialog({ what, id, version, close, deleted, children }: Props) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const remove = (): void => {
    const path = `/${what}s/${encodeURIComponent(id)}?reason=${encodeURIComponent(reason)}`;
    call('DELETE', path, { headers: { 'if-match': `"${version}"` } }).then(
      () => {
        toast(`Deleted: ${id}. Its versions are kept.`);
        close();
        deleted();
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  return (
    <Dialog
      title={`Delete ${id}?`}
      close={close}
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            Back
          </button>
          <button class="btn go harm" type="button" disabled={reason.trim() === ''} onClick={remove}>
            {`Delete the ${what}`}
          </button>
        </>
      }
    >
      {children}
      <ReasonField id="delete-reason" value={reason} onText={setReason} />
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
