import { useEffect, useState } from 'preact/hooks';
import { connection, Problem, post } from '../../api/client.ts';
import type { DeadLetter, TreatedDeadLetter } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { Skeleton } from '../../parts/states.tsx';
import { counted, Said, shown } from '../../parts/text.tsx';
import { toast } from '../../parts/toast.tsx';

export type Action = 'resubmit' | 'discard';

interface Props {
  readonly channel: string;
  readonly action: Action;
  readonly letters: readonly DeadLetter[];
  readonly close: () => void;
  /** Called with the ids of messages that are no longer dead letters. */
  readonly done: (ids: readonly string[]) => void;
}

const texts = {
  resubmit: {
    verb: 'Send',
    done: 'Sent again',
    can: 'sent again',
    does: 'They go to their queues again, unchanged. They are no dead letters any more.',
  },
  discard: {
    verb: 'Discard',
    done: 'Discarded',
    can: 'discarded',
    does: 'They are deleted for good. This cannot be taken back. The audit keeps your reason.',
  },
} as const;

/** Checks each of the chosen messages, asks, and then sends or discards those for which it is possible. */
export function ManyDialog({ channel, action, close, done, ...props }: Props) {
  // The list behind the dialog keeps changing. The dialog treats only the messages that were chosen when it opened.
  const [letters] = useState(props.letters);
  const { verb, done: was, can, does } = texts[action];
  const [results, setResults] = useState<readonly TreatedDeadLetter[]>();
  const [isSent, setSent] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [reason, setReason] = useState('');
  const run = (ids: readonly string[], given: { readonly reason: string; readonly dryRun: boolean }): void => {
    setBusy(true);
    setProblem(undefined);
    treated(channel, ids, { action, ...given })
      .then((all) => {
        setResults(all);
        if (given.dryRun) return;
        setSent(true);
        const treatedIds = all.filter(({ outcome }) => outcome === 'done').map(({ id }) => id);
        done(treatedIds);
        if (treatedIds.length < all.length) return;
        toast(`${was}: ${counted(treatedIds.length, 'message')}.`);
        close();
      })
      .catch((error: unknown) => setProblem(problemOf(error)))
      .finally(() => setBusy(false));
  };
  useEffect(
    () =>
      run(
        letters.map(({ id }) => id),
        { reason: 'a check', dryRun: true },
      ),
    [],
  );
  const fit = results?.filter(({ outcome }) => outcome === 'possible') ?? [];
  const others = results?.filter(({ outcome }) => outcome !== 'possible' && outcome !== 'done') ?? [];
  const mayAct = reason.trim() !== '' && !busy && connection.value.lostSince === undefined && fit.length > 0;
  return (
    <Dialog
      title={`${verb} ${counted(letters.length, 'message')} of ${channel}?`}
      close={close}
      wide
      footer={
        <>
          <button class="btn" type="button" onClick={close}>
            {isSent ? 'Close' : 'Back'}
          </button>
          {!isSent && (results === undefined || fit.length > 0) && (
            <button
              class={`btn go ${action === 'discard' ? 'harm' : ''}`}
              type="button"
              disabled={!mayAct}
              onClick={() =>
                run(
                  fit.map(({ id }) => id),
                  { reason, dryRun: false },
                )
              }
            >
              {`${verb} ${counted(fit.length, 'message')}`}
            </button>
          )}
        </>
      }
    >
      {results === undefined && !problem && <Skeleton rows={2} />}
      {results && !isSent && (
        <ul class="story">
          <li>
            {fit.length === 0
              ? `None of them can be ${can}.`
              : `${counted(fit.length, 'message')} of ${letters.length} can be ${can}. ${does}`}
          </li>
          {others.length > 0 && fit.length > 0 && (
            <li>{`${counted(others.length, 'message')} cannot be ${can}, and ${others.length === 1 ? 'stays' : 'stay'}.`}</li>
          )}
          {results.length < letters.length && <li>{`${letters.length - results.length} are no dead letters any more.`}</li>}
        </ul>
      )}
      {isSent && <p>{`${was}: ${(results?.length ?? 0) - others.length}. The others stay.`}</p>}
      {others.length > 0 && <Refused letters={others} />}
      {!isSent && (results === undefined || fit.length > 0) && <ReasonField id="many-reason" value={reason} onText={setReason} isFirst />}
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}

const Refused = ({ letters }: { letters: readonly TreatedDeadLetter[] }) => (
  <ul class="changes" aria-label="Not possible">
    {letters.map(({ id, type, errors, outcome }) => (
      <li key={id}>
        <Icon name="stop" tone="c-stop" /> <b>{type ?? 'unreadable'}</b>
        {errors.length === 0 && <div class="soft">{outcome}</div>}
        {errors.map(({ pointer, detail }) => (
          <div key={pointer + detail} class="soft">
            {pointer !== '' && <span class="mono">{`${shown(pointer)} `}</span>}
            <Said>{detail}</Said>
          </div>
        ))}
      </li>
    ))}
  </ul>
);

const atOnce = 50;

/** Treats the messages in calls of 50. @throws Problem */
async function treated(channel: string, ids: readonly string[], content: object): Promise<readonly TreatedDeadLetter[]> {
  const all: TreatedDeadLetter[] = [];
  for (let from = 0; from < ids.length; from += atOnce) {
    const body = { ...content, filter: { ids: ids.slice(from, from + atOnce) } };
    const path = `/channels/${encodeURIComponent(channel)}/dead-letters/bulk`;
    all.push(...(await post<{ readonly items: readonly TreatedDeadLetter[] }>(path, body)).items);
  }
  return all;
}

const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem({ status: 0, code: 'console-error', title: 'The console failed.', detail: String(error) });
