import { usePages } from '../api/poll.ts';
import { has } from '../api/session.ts';
import type { Solution } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, Loaded, PageHead, Panel } from '../parts/states.tsx';
import { Said, shown } from '../parts/text.tsx';
import { useRows } from '../parts/use-rows.ts';
import { go, href, place } from '../router.ts';
import { kindName } from './bulk/text.tsx';
import { About } from './solutions/about.tsx';
import { Editor } from './solutions/editor.tsx';
import { appliesText, oddsText } from './solutions/text.ts';

/** The solutions, the most used first, with the editor of one of them. */
export default function Solutions() {
  const solutions = usePages<Solution>('/solutions?limit=100', ({ id }) => id, 10_000);
  const sorted = solutions.items.toSorted((one, other) => other.stats.used - one.stats.used || one.id.localeCompare(other.id));
  const chosenId = place.value.parts[1] ?? sorted[0]?.id;
  const chosen = sorted.find(({ id }) => id === chosenId);
  const rows = useRows(sorted.map(({ id }) => `/solutions/${id}`));
  return (
    <>
      <PageHead title="Solutions" lede="instructions kept for the next time, with how often they worked">
        {has('operator') && (
          <button class="btn" type="button" onClick={() => go('/solutions/new')}>
            <Icon name="plus" />
            New solution
          </button>
        )}
      </PageHead>
      <div class="rules">
        <Panel
          label="Solutions"
          footer={
            solutions.hasMore && (
              <button class="btn bare sm" type="button" disabled={solutions.loading} onClick={solutions.more}>
                Load more
              </button>
            )
          }
        >
          <Loaded polled={solutions} what="The solutions">
            {() =>
              sorted.length === 0 ? (
                <Empty title="No solution yet." icon="bulb">
                  <p>Resolve a task, and keep its instruction under a name. The next task like it suggests it.</p>
                </Empty>
              ) : (
                <ul class="pick" {...rows.table}>
                  {sorted.map((solution, index) => (
                    <Line key={solution.id} solution={solution} isChosen={solution.id === chosen?.id} isAt={rows.at === index} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Panel>
        {chosenId === 'new' ? (
          <Editor key="new" solution={undefined} refresh={solutions.refresh} />
        ) : chosen ? (
          <>
            <Editor key={chosen.id} solution={chosen} refresh={solutions.refresh} />
            <About key={`${chosen.id} ${chosen.version}`} solution={chosen} />
          </>
        ) : (
          solutions.data !== undefined && sorted.length > 0 && <Empty title={`There is no solution ${shown(chosenId ?? '')}.`} />
        )}
      </div>
    </>
  );
}

const Line = ({ solution, isChosen, isAt }: { solution: Solution; isChosen: boolean; isAt: boolean }) => (
  <li class={`${isChosen ? 'on' : ''} ${isAt ? 'cursor' : ''}`}>
    <a class="pick-name" href={href(`/solutions/${solution.id}`)} aria-current={isChosen ? 'true' : undefined}>
      <Said>{solution.name}</Said>
    </a>
    <span class="t-s">{oddsText(solution.stats)}</span>
    <span class="t-s pick-below">{`${kindName(solution.instruction.kind)}, ${shown(appliesText(solution))}`}</span>
  </li>
);
