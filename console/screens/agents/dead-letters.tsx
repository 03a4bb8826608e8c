import { useState } from 'preact/hooks';
import { usePages } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { DeadLetter } from '../../api/types.ts';
import { Chip } from '../../parts/chip.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Empty, Loaded, Panel } from '../../parts/states.tsx';
import { Ago, counted, Said, shortId } from '../../parts/text.tsx';
import { type Selection, useSelection } from '../../parts/use-selection.ts';
import { go, href, orderLink, queried, setQuery } from '../../router.ts';
import { Letter } from './letter.tsx';
import { type Action, ManyDialog } from './many-dialog.tsx';

/** The dead letters of one channel, and the one that is chosen. */
export function DeadLetters({ name }: { name: string }) {
  const path = `/channels/${encodeURIComponent(name)}/dead-letters`;
  const letters = usePages<DeadLetter>(`${path}?limit=50`, ({ id }) => id);
  const chosen = queried('id');
  const selection = useSelection(
    letters.items.map(({ id }) => id),
    letters.items.map(
      ({ id }) =>
        () =>
          setQuery({ id }),
    ),
  );
  useKeys([{ key: 'Backspace', what: 'Back to the agents and queues', run: () => go('/agents') }], []);
  return (
    <>
      <div class="row o-top">
        <a href={href('/agents')}>Agents and queues</a>
        <span class="muted">/</span>
        <h1>{`Dead letters of ${name}`}</h1>
        <span class="soft">Messages that could not be processed.</span>
      </div>
      <div class={chosen === '' ? '' : 'side letters'}>
        <Panel
          label="Dead letters"
          footer={
            letters.hasMore && (
              <button class="btn bare sm" type="button" disabled={letters.loading} onClick={letters.more}>
                Load more
              </button>
            )
          }
        >
          <Loaded polled={letters} what="The dead letters">
            {() =>
              letters.items.length === 0 ? (
                <Empty title="There is no dead letter." icon="done">
                  <p>A message becomes one when it has failed too often, or when nobody can read it.</p>
                </Empty>
              ) : (
                <Table letters={letters.items} selection={selection} open={chosen} />
              )
            }
          </Loaded>
        </Panel>
        {chosen !== '' && (
          <Letter
            key={chosen}
            path={`${path}/${encodeURIComponent(chosen)}`}
            channel={name}
            id={chosen}
            close={() => setQuery({ id: undefined })}
            done={letters.refresh}
          />
        )}
      </div>
      {has('operator') && <Many channel={name} letters={letters.items} selection={selection} refresh={letters.refresh} />}
    </>
  );
}

interface TableProps {
  readonly letters: readonly DeadLetter[];
  readonly selection: Selection;
  /** The id of the message that is shown beside the list; empty if none is. */
  readonly open: string;
}

const Table = ({ letters, selection: { chosen, toggle, rows }, open }: TableProps) => (
  <table class="list two" {...rows.table}>
    <thead>
      <tr>
        <th>
          <span class="vh">Select</span>
        </th>
        <th>Message</th>
        <th>Why</th>
        <th>Order</th>
        <th>Since</th>
      </tr>
    </thead>
    <tbody>
      {letters.map((letter, index) => (
        <tr key={letter.id} class={`${letter.id === open || chosen.has(letter.id) ? 'on' : ''} ${index === rows.at ? 'cursor' : ''}`}>
          <td class="fit">
            <input
              class="box"
              type="checkbox"
              aria-label={`Select the message ${shortId(letter.messageId)}`}
              checked={chosen.has(letter.id)}
              onChange={() => toggle(letter.id)}
            />
          </td>
          <td class="fit">
            <button class="cell-button" type="button" onClick={() => setQuery({ id: letter.id })}>
              <b>{letter.type ?? 'unreadable'}</b>
            </button>
            <div class="t-s muted">{counted(letter.failures, 'failure')}</div>
          </td>
          <td>
            <Said>{letter.reason}</Said>
            {letter.handling && (
              <div>
                <Chip tone="warn" icon="clock" tinted>{`${letter.handling.action} has begun`}</Chip>
              </div>
            )}
          </td>
          <td class="fit">
            {letter.orderId !== null && (
              <a class="id" href={orderLink(letter.orderId)}>
                {shortId(letter.orderId)}
              </a>
            )}
          </td>
          <td class="fit soft nowrap" data-l="since">
            <Ago at={letter.deadAt} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

interface ManyProps {
  readonly channel: string;
  readonly letters: readonly DeadLetter[];
  readonly selection: Selection;
  readonly refresh: () => void;
}

/** The buttons for the chosen messages together. */
function Many({ channel, letters, selection: { chosen, choose, clear }, refresh }: ManyProps) {
  const [action, ask] = useState<Action>();
  const selected = letters.filter(({ id }) => chosen.has(id));
  if (selected.length === 0 && action === undefined) return null;
  return (
    <div class="bulkbar">
      <b role="status">{counted(selected.length, 'message')}</b>
      <span class="sep" />
      <button class="btn sm" type="button" onClick={() => ask('resubmit')}>
        Check and send…
      </button>
      <button class="btn sm harm" type="button" onClick={() => ask('discard')}>
        Discard…
      </button>
      <button class="btn bare sm" type="button" onClick={clear}>
        Clear <kbd>Esc</kbd>
      </button>
      {action && (
        <ManyDialog
          channel={channel}
          action={action}
          letters={selected}
          close={() => ask(undefined)}
          done={(ids) => {
            choose([...chosen].filter((id) => !ids.includes(id)));
            if (ids.includes(queried('id'))) setQuery({ id: undefined });
            refresh();
          }}
        />
      )}
    </div>
  );
}
