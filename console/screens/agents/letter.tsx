import { useEffect, useState } from 'preact/hooks';
import type { Json } from '#core/data/json';
import { call, connection, get, Problem } from '../../api/client.ts';
import { has, person } from '../../api/session.ts';
import type { WholeDeadLetter } from '../../api/types.ts';
import { useDraft } from '../../parts/draft.ts';
import { Icon } from '../../parts/icon.tsx';
import { parsed } from '../../parts/json-text.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { Facts, Failure, Panel, Skeleton } from '../../parts/states.tsx';
import { At, counted, Said, shortId } from '../../parts/text.tsx';
import { toast } from '../../parts/toast.tsx';
import { ValueField } from '../../parts/value-field.tsx';
import { orderLink } from '../../router.ts';

interface Props {
  /** The path of the message in the API. */
  readonly path: string;
  readonly channel: string;
  readonly id: string;
  readonly close: () => void;
  /** Called when the message is no longer a dead letter. */
  readonly done: () => void;
}

/** One dead letter. It is read once and not polled, because each read of a body is audited. */
export function Letter(props: Props) {
  const [letter, setLetter] = useState<WholeDeadLetter>();
  const [problem, setProblem] = useState<Problem>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setProblem(undefined);
    get<WholeDeadLetter>(props.path).then(setLetter, (error: unknown) => setProblem(problemOf(error)));
  }, [props.path, attempt]);
  return (
    <Panel
      title={letter?.type ?? 'Message'}
      end={
        <button class="btn bare sm" type="button" aria-label="Close" onClick={props.close}>
          <Icon name="cancel" />
        </button>
      }
    >
      {letter ? (
        <>
          <Story letter={letter} />
          {has('operator') ? <Mend letter={letter} {...props} /> : <p class="body hint">You can only read here.</p>}
        </>
      ) : problem ? (
        <Failure what="The message could not be read." problem={problem} retry={() => setAttempt(attempt + 1)} />
      ) : (
        <Skeleton rows={6} />
      )}
    </Panel>
  );
}

const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem({ status: 0, code: 'console-error', title: 'The console failed.', detail: String(error) });

const Story = ({
  letter: { reason, attempts, queue, messageId, orderId, senderId, sentAt, deadAt, bytes, text },
}: {
  letter: WholeDeadLetter;
}) => (
  <div class="body stack">
    <div class="note stop">
      <Icon name="letter" />
      <div>
        <Said>{reason}</Said>
        {text !== null && (
          <div class="soft">
            <Said>{text}</Said>
          </div>
        )}
      </div>
    </div>
    <Facts
      facts={[
        [
          'Order',
          orderId === null ? undefined : (
            <a class="id" href={orderLink(orderId)}>
              {shortId(orderId)}
            </a>
          ),
        ],
        ['Queue', queue],
        ['Message', <span class="mono">{shortId(messageId)}</span>],
        ['Sender', senderId === null ? undefined : <Said>{senderId}</Said>],
        ['Size', counted(bytes, 'byte')],
        ['Sent', <At at={sentAt} />],
        ['Dead letter since', <At at={deadAt} />],
      ]}
    />
    {attempts.length > 0 && (
      <details>
        <summary>{counted(attempts.length, 'failed attempt')}</summary>
        <ol class="story">
          {attempts.map(({ at, error }, index) => (
            <li key={index}>
              <At at={at} /> <Said>{error}</Said>
            </li>
          ))}
        </ol>
      </details>
    )}
  </div>
);

/** The body and the reason at the last check. The button Send again is enabled only while both are unchanged. */
interface Checked {
  readonly body: string;
  readonly reason: string;
}

function Mend({ letter, path, channel, id, close, done }: Props & { letter: WholeDeadLetter }) {
  const before = letter.body === null ? '' : JSON.stringify(letter.body, null, 2);
  const draft = useDraft(`${person.value?.subject} dead-letter ${channel} ${id}`, { body: before, reason: '' });
  const { body, reason } = draft.value;
  const [checked, setChecked] = useState<Checked>();
  const [problem, setProblem] = useState<Problem>();
  const isFresh = checked !== undefined && checked.body === body && checked.reason === reason;
  const value = parsed(body);
  const mayAct = reason.trim() !== '' && connection.value.lostSince === undefined;
  const change = body === before ? {} : { body: value.ok ? (value.value as Json) : null };

  const send = (method: string, at: string, content: object, then: () => void): void => {
    setProblem(undefined);
    call(method, at, { body: { reason, ...content } }).then(then, (error: unknown) => {
      setChecked(undefined);
      setProblem(problemOf(error));
    });
  };
  const leave = (text: string): void => {
    toast(text);
    draft.discard();
    close();
    done();
  };
  return (
    <>
      <div class="body stack">
        <ValueField
          label="Body of the message"
          text={body}
          before={before}
          onText={(next) => draft.change({ body: next })}
          errors={problem?.errors.filter(({ pointer }) => pointer !== '')}
          hint="Masked values that you leave as they are keep their original value."
        />
        <ReasonField id="letter-reason" value={reason} onText={(next) => draft.change({ reason: next })} />
        {problem && <ProblemNote problem={problem} />}
        {checked && (
          <div class={`note ${isFresh ? 'ok' : 'warn'}`} role="status">
            <Icon name={isFresh ? 'done' : 'warn'} />
            <div>
              {isFresh
                ? `Possible. The message goes to ${letter.queue} again${body === before ? '' : ', with the new body'}. Nothing was changed yet.`
                : 'You have changed the message since you checked it. Check again before you send it.'}
            </div>
          </div>
        )}
      </div>
      <div class="apply">
        <div class="row">
          <button
            class="btn"
            type="button"
            disabled={!mayAct || !value.ok}
            onClick={() => send('POST', `${path}/resubmit`, { ...change, dryRun: true }, () => setChecked({ body, reason }))}
          >
            Check
          </button>
          <button
            class="btn go"
            type="button"
            disabled={!mayAct || !isFresh}
            onClick={() => send('POST', `${path}/resubmit`, change, () => leave('Sent again. It is not a dead letter any more.'))}
          >
            {body === before ? 'Send again' : 'Send with the new body'}
          </button>
          <span class="grow" />
          <button
            class="btn harm"
            type="button"
            disabled={!mayAct}
            title="The message is deleted. This cannot be taken back."
            onClick={() => send('DELETE', path, {}, () => leave('Discarded. The audit keeps the reason.'))}
          >
            Discard for good
          </button>
        </div>
        <p class="hint">A check sends nothing. A discarded message cannot be taken back.</p>
      </div>
    </>
  );
}
