import { apiPath } from '../../api/client.ts';
import { usePages } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { AuditEntry, Solution, Task } from '../../api/types.ts';
import { Facts, Loaded, Panel } from '../../parts/states.tsx';
import { Ago, At, Said } from '../../parts/text.tsx';
import { VersionLine } from '../../parts/version-line.tsx';
import { href } from '../../router.ts';
import { askOf } from '../tasks/text.ts';
import { oddsText } from './text.ts';

/** Whether a solution can be trusted, where it can be used now, and who changed it. */
export function About({ solution }: { solution: Solution }) {
  const { stats, createdBy } = solution;
  return (
    <div class="stack">
      <Panel title="What it did">
        <div class="body stack">
          <Facts
            facts={[
              ['Passed', oddsText(stats)],
              ['Failed again', String(stats.failedAgain)],
              ['Failed otherwise', String(stats.failedOtherwise)],
              [
                'Last used',
                stats.lastUsedAt === null ? (
                  'never'
                ) : (
                  <>
                    <Ago at={stats.lastUsedAt} /> ago
                  </>
                ),
              ],
              ['Made by', <Said key="by">{createdBy}</Said>],
            ]}
          />
          <p class="hint">Counted from what became of the orders, since the instruction last changed.</p>
        </div>
      </Panel>
      <UseNow solution={solution} />
      {has('operator') && <Versions id={solution.id} />}
    </div>
  );
}

const tasksMax = 5;

/**
 * Open tasks on which a person can check the solution, and use it: those with its first fingerprint, or all if it has a condition. The check
 * then says whether the condition is true.
 */
function UseNow({ solution: { id, fingerprints, appliesWhen } }: { solution: Solution }) {
  const [fingerprint] = fingerprints;
  const isByCondition = appliesWhen !== undefined;
  const query = isByCondition ? {} : { fingerprint };
  const path = isByCondition || fingerprint !== undefined ? apiPath('/tasks', { ...query, limit: 50 }) : undefined;
  const tasks = usePages<Task>(path, ({ id: task }) => task, 10_000);
  const about = tasks.items.filter(({ orderId }) => orderId !== undefined).slice(0, tasksMax);
  return (
    <Panel title="Try it on an order">
      {path === undefined ? (
        <p class="body hint">No task suggests it. The command line uses it by its id.</p>
      ) : (
        <Loaded polled={tasks} what="The tasks" rows={2}>
          {() =>
            about.length === 0 ? (
              <p class="body hint">No open task needs it now.</p>
            ) : (
              <ul class="mini">
                {about.map((task) => (
                  <li key={task.id}>
                    <a class="grow" href={href(`/tasks/${task.id}`, { solution: id })}>
                      <Said>{askOf(task)}</Said>
                    </a>
                    <span class="muted">
                      <At at={task.openedAt} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
    </Panel>
  );
}

/** The versions, from the audit: it keeps what a person changed, and why. */
function Versions({ id }: { id: string }) {
  const entries = usePages<AuditEntry>(apiPath('/audit', { kind: 'solution', target: id, limit: 20 }), ({ id: entry }) => entry, 30_000);
  return (
    <Panel title="Versions">
      <Loaded polled={entries} what="The versions" rows={3}>
        {() => (
          <ul class="version-list">
            {entries.items.map((entry) => (
              <Version key={entry.id} entry={entry} />
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}

const text = (value: unknown): string => (value === null ? '' : JSON.stringify(value, null, 2));
const versionOf = (value: AuditEntry['after']): string => String((value as { version?: number } | null)?.version ?? '');

const Version = ({ entry: { at, by, action, reason, before, after } }: { entry: AuditEntry }) => (
  <VersionLine
    version={versionOf(after)}
    reason={reason}
    before={before === null || after === null ? undefined : text(before)}
    after={text(after)}
  >
    <Said>{by}</Said>{' '}
    <span class="muted">
      {action === 'delete' ? 'deleted it ' : ''}
      <At at={at} />
    </span>
  </VersionLine>
);
