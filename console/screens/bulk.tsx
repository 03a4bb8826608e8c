import { usePages } from '../api/poll.ts';
import type { ListedBulkRun } from '../api/types.ts';
import { Chip } from '../parts/chip.tsx';
import { useKeys } from '../parts/keys.ts';
import { Empty, Loaded, PageHead, Panel } from '../parts/states.tsx';
import { Ago, counted, Said } from '../parts/text.tsx';
import { useRows } from '../parts/use-rows.ts';
import { href, place } from '../router.ts';
import { NewRun } from './bulk/new-run.tsx';
import { RunScreen } from './bulk/run.tsx';
import { nameOf, Progress, stateOf } from './bulk/text.tsx';

/** The bulk runs, one of them, or the form of a new one. */
export default function Bulk() {
  const id = place.value.parts[1];
  if (id === undefined) return <Runs />;
  return id === 'new' ? <NewRun /> : <RunScreen key={id} id={id} />;
}

function Runs() {
  const runs = usePages<ListedBulkRun>('/bulk?limit=20', ({ id }) => id);
  useKeys([{ key: 'l', what: 'Load older runs', run: runs.more }], [runs.more]);
  const rows = useRows(runs.items.map(({ id }) => `/bulk/${id}`));
  return (
    <>
      <PageHead title="Bulk runs" lede="one instruction for many orders, which are checked first" />
      <Panel
        label="Bulk runs"
        footer={
          runs.hasMore && (
            <button class="btn bare sm" type="button" disabled={runs.loading} onClick={runs.more}>
              Load older <kbd>l</kbd>
            </button>
          )
        }
      >
        <Loaded polled={runs} what="The bulk runs">
          {() =>
            runs.items.length === 0 ? (
              <Empty title="No bulk run yet." icon="many">
                <p>Choose a group of exceptions, and decide for all of its orders. Or select orders in the list.</p>
                <a class="btn" href={href('/exceptions')}>
                  Show the exceptions
                </a>
              </Empty>
            ) : (
              <table class="list" {...rows.table}>
                <thead>
                  <tr>
                    {['Run', 'State', 'Reason', 'By'].map((head) => (
                      <th key={head}>{head}</th>
                    ))}
                    <th>Dealt with</th>
                    <th class="num">Orders</th>
                    <th class="num">Begun</th>
                  </tr>
                </thead>
                <tbody>
                  {runs.items.map((run, index) => (
                    <Row key={run.id} run={run} isAt={rows.at === index} />
                  ))}
                </tbody>
              </table>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Row({ run, isAt }: { run: ListedBulkRun; isAt: boolean }) {
  const { id, reason, by, count, createdAt } = run;
  const state = stateOf(run);
  return (
    <tr class={isAt ? 'cursor' : ''}>
      <td class="fit">
        <a class="cell" href={href(`/bulk/${id}`)}>
          {nameOf(run)}
        </a>
      </td>
      <td class="fit">
        <Chip {...state.chip}>{state.word}</Chip>
      </td>
      <td>
        <Said>{reason}</Said>
      </td>
      <td class="fit soft lo">
        <Said>{by}</Said>
      </td>
      <td class="fit bar-cell">
        <Progress run={run} isThin />
      </td>
      <td class="fit num" data-l="of">
        {counted(count, 'order')}
      </td>
      <td class="fit num soft" data-l="begun">
        <Ago at={createdAt} />
      </td>
    </tr>
  );
}
