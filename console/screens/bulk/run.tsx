import { useEffect, useState } from 'preact/hooks';
import { Problem, post } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { BulkRun } from '../../api/types.ts';
import { kindNames, kinds } from '../../instructions/kinds.ts';
import { Chip } from '../../parts/chip.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Facts, Loaded, Panel } from '../../parts/states.tsx';
import { At, counted, Said } from '../../parts/text.tsx';
import { copy, toast } from '../../parts/toast.tsx';
import { go, href } from '../../router.ts';
import { type Act, ActDialog } from './act-dialog.tsx';
import { useGroupName } from './group-name.ts';
import { Items } from './items.tsx';
import { Notes } from './notes.tsx';
import { Stages } from './stages.tsx';
import {
  dealtWith,
  type Filter,
  failedText,
  failuresOf,
  isHarm,
  nameOf,
  Progress,
  partsOf,
  startText,
  stateOf,
  unknownText,
} from './text.tsx';

/** One bulk run: whether it goes well, and how to stop it. */
export function RunScreen({ id }: { id: string }) {
  const run = usePoll<BulkRun>(`/bulk/${encodeURIComponent(id)}`, 1_500);
  const [asking, ask] = useState<Act>();
  useEffect(() => {
    document.title = 'Bulk run · Redress';
  }, []);
  useKeys(
    [
      { key: 'Backspace', what: 'Back to the bulk runs', run: () => go('/bulk') },
      { key: 'y', what: 'Copy as command', run: () => copy(`npx redress bulk watch ${id}`, 'the command') },
    ],
    [id],
  );
  return (
    <Loaded polled={run} what="The bulk run" rows={8}>
      {(data) => (
        <>
          <Head run={data} ask={ask} refresh={run.refresh} />
          <Notes run={data} />
          <div class="bulk">
            <div class="stack">
              <Stages run={data} />
              <Figures run={data} />
              <Items run={data} />
            </div>
            <About run={data} />
          </div>
          {asking && <ActDialog act={asking} run={data} close={() => ask(undefined)} done={run.refresh} />}
        </>
      )}
    </Loaded>
  );
}

function Head({ run, ask, refresh }: { run: BulkRun; ask: (act: Act) => void; refresh: () => void }) {
  const state = stateOf(run);
  const group = useGroupName((run.filter as Filter).fingerprint);
  const mayAct = has('operator');
  const isOpen = run.state === 'running' || run.state === 'paused';
  const actAtOnce = (act: Act, reason: string, done: string, back?: { readonly name: string; readonly run: () => void }): void => {
    post(`/bulk/${run.id}/${act}`, { reason }).then(
      () => {
        toast(done, 'ok', back);
        refresh();
      },
      (error: unknown) => toast(error instanceof Problem ? `${error.message} ${error.detail}` : String(error), 'stop'),
    );
  };
  // A run whose effects can be taken back goes on at once: its set, its effect and its reason stand below the button, and it can be paused. A
  // question comes first if some of its orders have failed, or if nobody knows yet whether the canary helped.
  const unknown = unknownText(run);
  const isDoubtful = failuresOf(run.verified) > 0 || unknown !== undefined;
  const asks = isHarm(run) || isDoubtful;
  const start = (act: 'start' | 'resume', done: string): void => (asks ? ask(act) : actAtOnce(act, run.reason, done));
  const goOn = (): void => start('resume', 'The run goes on. You can pause it at any time.');
  const pause = (): void =>
    actAtOnce('pause', 'paused in the console', 'Paused. Nothing more is sent until somebody resumes it.', { name: 'Resume', run: goOn });
  return (
    <div class="row o-top">
      <a href={href('/bulk')}>Bulk runs</a>
      <span class="muted">/</span>
      <h1>{nameOf(run, group)}</h1>
      <Chip {...state.chip}>{state.word}</Chip>
      <span class="grow" />
      {mayAct && run.state === 'ready' && (
        <button
          class="btn go"
          type="button"
          disabled={run.feasible === 0}
          onClick={() => start('start', 'Started. You can pause it at any time.')}
        >
          {`${startText(run)}${asks ? '…' : ''}`}
        </button>
      )}
      {mayAct && run.state === 'paused' && (
        <button class={`btn ${isDoubtful ? '' : 'go'}`} type="button" onClick={goOn}>
          {`Go on with ${counted(run.left, 'order')}${asks ? '…' : ''}`}
          {unknown !== undefined && <span class="muted t-s">{` (${unknown})`}</span>}
        </button>
      )}
      {mayAct && run.state === 'running' && (
        <button class="btn" type="button" onClick={pause}>
          <Icon name="pause" />
          Pause
        </button>
      )}
      {mayAct && (isOpen || run.state === 'ready' || run.state === 'preparing') && (
        <button class="btn harm" type="button" onClick={() => ask('stop')}>
          Stop…
        </button>
      )}
    </div>
  );
}

const Figures = ({ run }: { run: BulkRun }) => (
  <Panel
    title={`${dealtWith(run).toLocaleString('en')} of ${run.count.toLocaleString('en')} dealt with${openResults(run)}`}
    end={<span class="muted">{run.state === 'running' ? 'live' : ''}</span>}
  >
    <div class="body stack">
      <Progress run={run} />
      <dl class="tally">
        {partsOf(run).map(({ kind, name, count }) => (
          <div key={kind}>
            <dt>
              <i class={`sw ${kind}`} />
              {name}
            </dt>
            <dd class={kind === 'bad' && count > 0 ? 'c-stop' : ''}>{count.toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
    </div>
  </Panel>
);

/** Counts the orders of a finished run about which it is not yet known whether the instruction helped. */
const openResults = ({ state, verified: { running } }: BulkRun): string =>
  state === 'done' && running > 0 ? `, ${counted(running, 'result')} not known yet` : '';

function About({ run }: { run: BulkRun }) {
  const { by, createdAt, reason, ratePerSecond, canary, stopAfterFailures, verified, kind, changes, id } = run;
  const known = kindNames.find((each) => each === kind);
  const { workflow, fault, state, ids, fingerprint } = run.filter as Filter;
  const which = [ids === undefined ? undefined : `${String(ids)} chosen`, workflow, fault, state].filter(Boolean).join(', ');
  const failures = failuresOf(verified);
  const group = useGroupName(fingerprint);
  return (
    <Panel
      title="What it does"
      footer={
        <span>
          It goes on when this page is closed. It pauses by itself during the outage of a service. An order is never instructed twice.
        </span>
      }
    >
      <div class="body stack">
        {known && <p>{`In each order, it ${kinds[known].does}.`}</p>}
        <Facts
          facts={[
            ['Orders', which],
            ['Group', fingerprint && <a href={href('/exceptions', { state: 'all', group: fingerprint })}>{group ?? 'alike exceptions'}</a>],
            [
              'By',
              <>
                <Said>{by}</Said>, <At at={createdAt} />
              </>,
            ],
            ['Reason', <Said key="reason">{reason}</Said>],
            ['Rate', `${ratePerSecond} orders a second`],
            ['Canary', canary === null ? 'none' : `the first ${canary}; then a person decides`],
          ]}
        />
        {stopAfterFailures !== null && (
          <div class="stack tight">
            <div class="row between t-s">
              <span class="strong">{`Stops by itself when ${stopAfterFailures} have failed`}</span>
              <span>{`${failures} of ${stopAfterFailures}`}</span>
            </div>
            <svg class="progress thin" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class="left" x="0" y="0" width="1000" height="10" />
              <rect class="bad" x="0" y="0" width={(1000 * Math.min(failures, stopAfterFailures)) / stopAfterFailures} height="10" />
            </svg>
            {failures > 0 && <p class="hint">{`${failedText(verified)}.`}</p>}
          </div>
        )}
        <h3>What people did</h3>
        <ul class="changes">
          {changes.map(({ at, by: who, action, reason: why }) => (
            <li key={at + action}>
              <At at={at} /> <b>{action}</b> <Said>{who}</Said>
              <div class="soft">
                <Said>{why}</Said>
              </div>
            </li>
          ))}
        </ul>
        <button class="btn bare sm start" type="button" onClick={() => copy(`npx redress bulk watch ${id}`, 'the command')}>
          <Icon name="cli" />
          Copy as command
        </button>
      </div>
    </Panel>
  );
}
