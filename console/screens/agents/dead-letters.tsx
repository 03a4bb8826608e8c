import { usePages } from '../../api/poll.ts';
import type { DeadLetter } from '../../api/types.ts';
import { Chip } from '../../parts/chip.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Empty, Loaded, Panel } from '../../parts/states.tsx';
import { Ago, counted, Said, shortId } from '../../parts/text.tsx';
import { useRows } from '../../parts/use-rows.ts';
import { go, href, orderLink, queried, setQuery } from '../../router.ts';
import { Letter } from './letter.tsx';

/** The dead letters of one channel, and the one that is chosen. */
export function DeadLetters({ name }: { name: string }) {
  const path = `/channels/${encodeURIComponent(name)}/dead-letters`;
  const letters = usePages<DeadLetter>(`${path}?limit=50`, ({ id }) => id);
  const chosen = queried('id');
  const rows = useRows(
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
                <table class="list two" {...rows.table}>
                  <thead>
                    <tr>
                      <th>Message</th>
                      <th>Why</th>
                      <th>Order</th>
                      <th>Since</th>
                    </tr>
                  </thead>
                  <tbody>
                    {letters.items.map((letter, index) => (
                      <tr key={letter.id} class={`${letter.id === chosen ? 'on' : ''} ${index === rows.at ? 'cursor' : ''}`}>
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
    </>
  );
}
