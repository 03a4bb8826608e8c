import { usePages } from '../api/poll.ts';
import { has } from '../api/session.ts';
import type { Rule } from '../api/types.ts';
import { Chip } from '../parts/chip.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, Loaded, PageHead, Panel } from '../parts/states.tsx';
import { Said } from '../parts/text.tsx';
import { useRows } from '../parts/use-rows.ts';
import { go, href, place } from '../router.ts';
import { Editor } from './rules/editor.tsx';
import { figuresText, modes, summaryOf } from './rules/text.ts';
import { Versions } from './rules/versions.tsx';

/** The rules, the highest priority first, with the editor of one of them. */
export default function Rules() {
  const rules = usePages<Rule>('/rules?limit=100', ({ id }) => id, 10_000);
  const sorted = rules.items.toSorted((one, other) => other.priority - one.priority || one.id.localeCompare(other.id));
  const chosenId = place.value.parts[1] ?? sorted[0]?.id;
  const chosen = sorted.find(({ id }) => id === chosenId);
  const rows = useRows(sorted.map(({ id }) => `/rules/${id}`));
  return (
    <>
      <PageHead title="Rules" lede="the rule with the highest priority is asked first; the first rule that acts ends the search">
        {has('admin') && (
          <button class="btn" type="button" onClick={() => go('/rules/new')}>
            <Icon name="plus" />
            New rule
          </button>
        )}
      </PageHead>
      <div class="rules">
        <Panel label="Rules">
          <Loaded polled={rules} what="The rules">
            {() =>
              sorted.length === 0 ? (
                <Empty title="No rule yet." icon="rule">
                  <p>Without rules, a person decides about each exception.</p>
                </Empty>
              ) : (
                <ul class="pick" {...rows.table}>
                  {sorted.map((rule, index) => (
                    <Line key={rule.id} rule={rule} isChosen={rule.id === chosen?.id} isAt={rows.at === index} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Panel>
        {chosenId === 'new' ? (
          <Editor key="new" rule={undefined} refresh={rules.refresh} />
        ) : chosen ? (
          <>
            <Editor key={chosen.id} rule={chosen} refresh={rules.refresh} />
            <Versions key={`${chosen.id} ${chosen.version}`} rule={chosen} />
          </>
        ) : (
          rules.data !== undefined && sorted.length > 0 && <Empty title={`There is no rule ${chosenId}.`} />
        )}
      </div>
    </>
  );
}

function Line({ rule, isChosen, isAt }: { rule: Rule; isChosen: boolean; isAt: boolean }) {
  const mode = modes[rule.mode];
  return (
    <li class={`${isChosen ? 'on' : ''} ${isAt ? 'cursor' : ''}`}>
      <a class="pick-name" href={href(`/rules/${rule.id}`)} aria-current={isChosen ? 'true' : undefined}>
        <Said>{rule.name}</Said>
      </a>
      <Chip tone={mode.tone} icon={mode.icon}>
        {rule.mode}
      </Chip>
      <span class="t-s">{summaryOf(rule)}</span>
      <span class="t-s">{figuresText(rule)}</span>
    </li>
  );
}
