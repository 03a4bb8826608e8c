import { useEffect } from 'preact/hooks';
import { usePages, usePoll } from '../api/poll.ts';
import type { ListedWorkflow, Workflow } from '../api/types.ts';
import { Graph } from '../graph/graph.tsx';
import type { Look } from '../graph/look.ts';
import { useDrawn } from '../graph/use-layout.ts';
import { Chip } from '../parts/chip.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, Loaded, PageHead, Panel, Skeleton } from '../parts/states.tsx';
import { Clock, counted } from '../parts/text.tsx';
import { useRows } from '../parts/use-rows.ts';
import { href, place, queried, setQuery } from '../router.ts';
import { Clusters } from './workflows/clusters.tsx';
import { FaultTable } from './workflows/faults.tsx';

const linkTo = (name: string, version: number): string => `/workflows/${encodeURIComponent(name)}/${version}`;
const pollMs = 10_000;

/** The workflows of the app, or one version with its orders at each step. */
export default function Workflows() {
  const [, name, version] = place.value.parts;
  return name === undefined || !/^\d{1,9}$/.test(version ?? '') ? (
    <WorkflowList />
  ) : (
    <OneVersion key={`${name}@${version}`} name={name} version={Number(version)} />
  );
}

function WorkflowList() {
  const workflows = usePages<ListedWorkflow>('/workflows?limit=100', ({ name }) => name, pollMs);
  const rows = useRows(workflows.items.map(({ name, version, versions }) => linkTo(name, version ?? versions[0]?.version ?? 1)));
  return (
    <>
      <PageHead title="Workflows" lede="what is defined, and which version unfinished orders need" />
      <Panel label="Workflows">
        <Loaded polled={workflows} what="The workflows">
          {() =>
            workflows.items.length === 0 ? (
              <Empty title="The app has no workflow." />
            ) : (
              <table class="list" {...rows.table}>
                <thead>
                  <tr>
                    <th>Workflow</th>
                    <th>New orders</th>
                    <th>Versions with unfinished orders</th>
                    <th class="num">Unfinished</th>
                  </tr>
                </thead>
                <tbody>
                  {workflows.items.map(({ name, version, versions }, index) => (
                    <tr key={name} class={index === rows.at ? 'cursor' : ''}>
                      <td>
                        <a class="cell" href={href(linkTo(name, version ?? versions[0]?.version ?? 1))}>
                          {name}
                        </a>
                      </td>
                      <td class="fit soft">{version === null ? 'not in the app' : `version ${version}`}</td>
                      <td>
                        <span class="marks">
                          {versions
                            .filter(({ live, inApp }) => live > 0 || !inApp)
                            .map((each) => (
                              <VersionMark key={each.version} {...each} />
                            ))}
                        </span>
                      </td>
                      <td class="fit num" data-l="unfinished">
                        {versions.reduce((sum, { live }) => sum + live, 0).toLocaleString('en')}
                      </td>
                    </tr>
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

type Version = ListedWorkflow['versions'][number];

const VersionMark = ({ version, live, inApp }: Version) =>
  inApp ? (
    <span class="tag">{`${version}: ${counted(live, 'order')}`}</span>
  ) : (
    <Chip tone="stop" icon="stop" tinted>{`${version}: ${counted(live, 'order')}, not in the app`}</Chip>
  );

function OneVersion({ name, version }: { name: string; version: number }) {
  const polled = usePoll<Workflow>(linkTo(name, version), pollMs);
  const drawn = useDrawn({ name, version });
  const chosen = queried('step') || undefined;
  const choose = (path: string): void => setQuery({ step: path === chosen ? undefined : path });
  useEffect(() => {
    document.title = `${name}@${version} · Redress`;
  }, [name, version]);
  return (
    <>
      <div class="row o-top">
        <a href={href('/workflows')}>Workflows</a>
        <span class="muted">/</span>
        <h1>{`${name}@${version}`}</h1>
        {polled.data && (
          <span class="soft">
            {summaryOf(polled.data)}{' '}
            <span class="muted">
              As of <Clock at={polled.data.asOf} />.
            </span>
          </span>
        )}
      </div>
      <Loaded polled={polled} what="The workflow" rows={8}>
        {(workflow) => (
          <div class="stack">
            <div class="side">
              <Panel label="Graph">
                <div class="canvas">
                  {drawn ? (
                    <Graph
                      layout={drawn.layout}
                      label={`The workflow ${name}, with its orders at each step. The table of steps says the same.`}
                      looks={looksOf(workflow)}
                      reached={new Set()}
                      chosen={chosen}
                      choose={choose}
                    />
                  ) : (
                    <Skeleton rows={8} />
                  )}
                </div>
              </Panel>
              <div class="stack">
                <Versions workflow={workflow} />
                <Steps workflow={workflow} chosen={chosen} choose={choose} />
              </div>
            </div>
            <FaultTable faults={workflow.faults} step={chosen} />
            <Clusters name={name} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function summaryOf({ steps, versions, version }: Workflow): string {
  const live = versions.find((each) => each.version === version)?.live ?? 0;
  const blocked = steps.reduce((sum, step) => sum + step.blocked, 0);
  return `${counted(live, 'order')} ${live === 1 ? 'is' : 'are'} unfinished, ${blocked} of them blocked.`;
}

/** Returns the look of each step: red where orders are blocked, blue where orders are at work. */
function looksOf({ steps }: Workflow): ReadonlyMap<string, Look> {
  return new Map(
    steps.map(({ path, blocked, running }): readonly [string, Look] => {
      const word = `${blocked} blocked, ${running} at work`;
      if (blocked > 0) return [path, { kind: 'block', icon: 'stop', tone: 'c-stop', word, says: `${blocked} blocked` }];
      if (running > 0) return [path, { kind: 'work', icon: 'work', tone: 'c-work', word, says: `${running} at work` }];
      return [path, { kind: 'free', icon: 'square', tone: '', word, says: '' }];
    }),
  );
}

const Versions = ({ workflow: { name, version, versions } }: { workflow: Workflow }) => (
  <Panel title="Versions" aside="the newest first">
    <ul class="mini">
      {versions.map((each) => (
        <li key={each.version}>
          <span class="grow">
            {each.version === version ? (
              <b>{`Version ${each.version}`}</b>
            ) : each.inApp ? (
              <a href={href(linkTo(name, each.version))}>{`Version ${each.version}`}</a>
            ) : (
              `Version ${each.version}`
            )}
          </span>
          {!each.inApp && (
            <Chip tone="stop" icon="stop" tinted>
              not in the app
            </Chip>
          )}
          <a href={href('/orders', { workflow: name })} class="soft">
            {counted(each.live, 'unfinished order')}
          </a>
        </li>
      ))}
    </ul>
  </Panel>
);

interface StepsProps {
  readonly workflow: Workflow;
  readonly chosen: string | undefined;
  readonly choose: (path: string) => void;
}

const Steps = ({ workflow: { steps }, chosen, choose }: StepsProps) => (
  <Panel title="Steps" aside="in the order of the definition">
    <ol class="steps">
      {steps.map(({ path, name, activity, agent, operation, undo, blocked, running }) => (
        <li key={path} class={chosen === path ? 'on' : blocked > 0 ? 'block' : ''}>
          <Icon
            name={blocked > 0 ? 'stop' : running > 0 ? 'work' : 'square'}
            tone={blocked > 0 ? 'c-stop' : running > 0 ? 'c-work' : 'muted'}
          />
          <button class="step-name" type="button" aria-pressed={chosen === path} onClick={() => choose(path)}>
            <b>{name}</b>
          </button>
          <span class={blocked > 0 ? 'c-stop' : 'soft'}>
            {[...(blocked > 0 ? [`${blocked} blocked`] : []), ...(running > 0 ? [`${running} at work`] : [])].join(', ')}
          </span>
          <span class="says">
            {agent === null ? activity : `${agent}.${operation}`}
            {undo !== null && `, undone by ${undo}`}
          </span>
        </li>
      ))}
    </ol>
  </Panel>
);
