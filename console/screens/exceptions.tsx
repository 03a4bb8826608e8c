import { apiPath } from '../api/client.ts';
import { usePages } from '../api/poll.ts';
import { useSteadyPages } from '../api/steady.ts';
import type { Exception, ExceptionGroup } from '../api/types.ts';
import { isUndo } from '../graph/look.ts';
import { Chip } from '../parts/chip.tsx';
import { Json } from '../parts/json.tsx';
import { OrderId } from '../parts/order-id.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Facts, Loaded, PageHead, Panel } from '../parts/states.tsx';
import { Ago, groupName, Said, shown, stepName } from '../parts/text.tsx';
import { useRows } from '../parts/use-rows.ts';
import { WaitingRows } from '../parts/waiting-rows.tsx';
import { href, orderLink, queried, setQuery } from '../router.ts';

/** The views. The first one is shown if the address names none. */
const choices = [
  ['open', 'Open'],
  ['handled', 'Handled'],
  ['all', 'All'],
] as const;

/** Alike exceptions together, and the orders of one group. */
export default function Exceptions() {
  const [state] = choices.find(([value]) => value === queried('state')) ?? choices[0];
  const path = apiPath('/exceptions/groups', { state: state === 'all' ? '' : state, limit: 100 });
  const groups = useSteadyPages<ExceptionGroup>(path, ({ fingerprint }) => fingerprint);
  const named = queried('group');
  const chosen = named === '' ? groups.items[0] : groups.items.find(({ fingerprint }) => fingerprint === named);
  const isElsewhere = groups.data !== undefined && !groups.hasMore && named !== '' && chosen === undefined;
  return (
    <>
      <PageHead title="Exceptions" lede="alike ones together: same workflow, step and fault">
        <WaitingRows list={groups} />
        <div class="seg">
          {choices.map(([value, name]) => (
            <button
              key={value}
              type="button"
              aria-pressed={state === value}
              onClick={() => setQuery({ state: value === 'open' ? undefined : value, group: undefined })}
            >
              {name}
            </button>
          ))}
        </div>
      </PageHead>
      <div class="side">
        <Panel
          label="Groups"
          footer={groups.data && <span>Faults that a workflow handles itself are not here. They are in the history of the order.</span>}
        >
          <Loaded polled={groups} what="The exceptions">
            {() =>
              groups.items.length === 0 ? (
                <Empty title={emptyTitles[state]} icon="done">
                  <p>No order has failed in a way that its workflow does not handle.</p>
                </Empty>
              ) : (
                <Table groups={groups.items} chosen={chosen} />
              )
            }
          </Loaded>
        </Panel>
        {chosen && <Group key={chosen.fingerprint} group={chosen} />}
        {isElsewhere && (
          <Panel label="Group">
            <Empty title="This group is not in this view.">
              <a class="btn" href={href('/exceptions', { state: 'all', group: named })}>
                Show it
              </a>
            </Empty>
          </Panel>
        )}
      </div>
    </>
  );
}

const emptyTitles = { open: 'No exception is open.', handled: 'No exception was handled.', all: 'No exception.' };

function Table({ groups, chosen }: { groups: readonly ExceptionGroup[]; chosen: ExceptionGroup | undefined }) {
  const rows = useRows(
    groups.map(
      ({ fingerprint }) =>
        () =>
          setQuery({ group: fingerprint }),
    ),
  );
  return (
    <table class="list" {...rows.table}>
      <thead>
        <tr>
          <th>What, and where</th>
          <th>Workflow</th>
          <th class="num">Open</th>
          <th class="num">Count</th>
          <th>Per hour</th>
          <th class="num">Last</th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group, index) => (
          <tr key={group.fingerprint} class={`${group === chosen ? 'on' : ''} ${rows.at === index ? 'cursor' : ''}`}>
            <td>
              <button
                class="cell-button"
                type="button"
                aria-pressed={group === chosen}
                onClick={() => setQuery({ group: group.fingerprint })}
              >
                <b>{group.type}</b> <span class="group-step">{group.step === null ? '' : `at ${stepName(group.step)}`}</span>
              </button>
              <div class="two-lines soft t-s">
                <Said>{group.sampleMessage}</Said>
              </div>
            </td>
            <td class="fit soft">{group.workflow}</td>
            <td class={`fit num ${group.open > 0 ? 'c-stop strong' : ''}`} data-l="open">
              {group.open}
            </td>
            <td class="fit num soft" data-l="count">
              {group.count}
            </td>
            <td class="fit lo">
              <Spark perHour={group.perHour} />
            </td>
            <td class="fit num soft" data-l="last">
              <Ago at={group.lastAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Group({ group }: { group: ExceptionGroup }) {
  const exceptions = usePages<Exception>(
    apiPath('/exceptions', { fingerprint: group.fingerprint, state: 'open', limit: 10 }),
    ({ id }) => id,
  );
  const last = exceptions.items[0];
  return (
    <section class="panel" aria-label={groupName(group)}>
      <header>
        <h2>{groupName(group)}</h2>
        <span class="end">
          {group.open > 0 && (
            <Chip tone="stop" icon="stop" tinted>
              {`${group.open} open`}
            </Chip>
          )}
        </span>
      </header>
      <div class="body stack">
        <div class="quote stop">
          <div class="muted">{last ? 'the last one' : 'one of them'}</div>
          <Said lines>{last?.message ?? group.sampleMessage}</Said>
          {last?.data !== undefined && last.data !== null && <Json value={last.data} label="What the service said" />}
        </div>
        <Facts
          facts={[
            [
              'Seen',
              <>
                first <Ago at={group.firstAt} /> ago, last <Ago at={group.lastAt} /> ago
              </>,
            ],
            ['Known?', knownTexts[group.class]],
            ['Since then', last && effectOf(last)],
          ]}
        />
      </div>
      {group.open === 1 && last && (
        <div class="apply">
          <a class="btn go big" href={last.taskId === undefined ? orderLink(last.orderId) : href(`/tasks/${last.taskId}`)}>
            Decide…
          </a>
        </div>
      )}
      {group.open > 1 && (
        <div class="apply">
          <a
            class="btn go big"
            href={href('/bulk/new', {
              fingerprint: group.fingerprint,
              kind: group.step !== null && isUndo(group.step) ? 'retry-undo' : undefined,
            })}
          >
            {`Decide for all ${group.open}…`}
          </a>
          <p class="hint">
            Each order is checked first. Nothing is sent before you say so. A corrected input is one order's own, and is not offered for
            all.
          </p>
        </div>
      )}
      <header class="sub">
        <h2>Open orders</h2>
      </header>
      <Loaded polled={exceptions} what="The orders" rows={Math.min(10, Math.max(1, group.open))}>
        {() => (
          <ul class="mini">
            {exceptions.items.map(({ id, orderId, reference, message, at }) => (
              <li key={id} class="wraps">
                <OrderId orderId={orderId} reference={reference} />
                <span class="muted nowrap end">
                  <Ago at={at} />
                </span>
                <span class="two-lines soft t-s" title={shown(message)}>
                  <Said>{message}</Said>
                </span>
              </li>
            ))}
            {exceptions.items.length === 0 && <li class="muted">No order of this group waits.</li>}
          </ul>
        )}
      </Loaded>
      {exceptions.hasMore && exceptions.items.length < group.open && (
        <footer class="row between">
          <span>{`The newest ${exceptions.items.length} of ${group.open}`}</span>
          <button class="btn bare sm" type="button" disabled={exceptions.loading} onClick={exceptions.more}>
            Show more
          </button>
        </footer>
      )}
    </section>
  );
}

const knownTexts: { readonly [faultClass in ExceptionGroup['class']]: string } = {
  expected: 'The workflow declares this fault, and leaves it to a person here.',
  unexpected: 'No workflow declares this fault.',
  'basic-failure': 'It comes from Redress, or from what it runs on.',
  'application-failure': 'It comes from the service, or from its agent.',
};

/** The effect of the last exception of a group on its order. */
function effectOf({ step, after: { processState, status } }: Exception): string {
  if (step && isUndo(step))
    return `The ${stepName(step)} is stuck. The order ends only when the undo succeeds, or a person marks it as undone.`;
  if (processState === 'Error') return 'The order stands still, and waits for a person.';
  if (status === 'Compensating' || status === null) return 'The order goes on.';
  return 'The order goes on, and the step is requested again.';
}
