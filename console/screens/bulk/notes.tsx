import { type Page, usePoll } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { BulkRun, ListedBulkRun } from '../../api/types.ts';
import { Icon } from '../../parts/icon.tsx';
import { counted, shortId } from '../../parts/text.tsx';
import { href } from '../../router.ts';
import { type Filter, failedText, failuresOf, forMany, partsOf } from './text.tsx';

/** The facts about a run that a person should know before anything else. */
export const Notes = ({ run }: { run: BulkRun }) => {
  const { sinceFrozen, stopped, state, paused, filter, verified } = run;
  return (
    <>
      {sinceFrozen > 0 && (
        <div class="note work applied-note">
          <Icon name="plus" />
          <div class="grow">{`${sinceFrozen} more ${sinceFrozen === 1 ? 'order matches' : 'orders match'} since the check. They are not in this run.`}</div>
          {(filter as Filter).fault !== undefined && (
            <a href={href('/orders', { state: 'Error', fault: (filter as Filter).fault })}>Show them</a>
          )}
        </div>
      )}
      {run.continues !== undefined && <Continues run={run} id={run.continues} />}
      {state === 'stopped' && <Stopped run={run} />}
      {stopped === null && state === 'paused' && paused?.by === 'canary' && (
        <div class={`note ${failuresOf(verified) > 0 ? 'stop' : 'warn'} applied-note`} role="status">
          <Icon name="pause" />
          <div>{canaryText(verified)}</div>
        </div>
      )}
    </>
  );
};

/** A stopped run never goes on. The orders that it left untouched can go into a new run. */
function Stopped({ run: { id, kind, solutionId, left, stopped, verified } }: { run: BulkRun }) {
  const why =
    stopped === null
      ? 'A person stopped it.'
      : stopped.code === 'too-many-failures'
        ? `It stopped by itself, because ${counted(failuresOf(verified), 'order')} failed: ${failedText(verified)}.`
        : `It stopped by itself: ${stopped.detail}`;
  const next = useContinuing(id);
  const isRepeatable = solutionId === undefined && forMany.some((each) => each === kind);
  return (
    <div class={`note ${stopped === null ? 'warn' : 'stop'} applied-note`} role={stopped === null ? 'status' : 'alert'}>
      <Icon name="square" />
      <div class="grow">{`${why} ${left > 0 ? `${counted(left, 'order')} ${left === 1 ? 'is' : 'are'} untouched.` : ''}`}</div>
      {next !== undefined && <a href={href(`/bulk/${next}`)}>{`Continued by ${shortId(next)}`}</a>}
      {left > 0 && next === undefined && isRepeatable && has('operator') && (
        <a class="btn" href={href('/bulk/new', { from: id, kind })}>
          {`Go on with the other ${left.toLocaleString('en')}…`}
        </a>
      )}
    </div>
  );
}

/** Returns the run that takes the untouched orders of a stopped one, if it is among the newest runs. */
function useContinuing(id: string): string | undefined {
  const { data } = usePoll<Page<ListedBulkRun>>('/bulk?limit=100');
  return data?.items.find(({ continues }) => continues === id)?.id;
}

/** Names the run whose untouched orders this run takes, and adds up the figures of both runs. */
function Continues({ run, id }: { run: BulkRun; id: string }) {
  const before = usePoll<BulkRun>(`/bulk/${encodeURIComponent(id)}`).data;
  return (
    <div class="note work applied-note">
      <Icon name="many" />
      <div class="grow">
        Continues <a href={href(`/bulk/${id}`)}>{shortId(id)}</a>.{before && ` ${togetherText(before, run)}`}
      </div>
    </div>
  );
}

/** `Both runs: 9 passed, 2 failed again, 4 to do, of 15 orders.` The second run has only orders that the first one left. */
function togetherText(before: BulkRun, run: BulkRun): string {
  const first = new Map(partsOf(before).map(({ kind, count }) => [kind, count]));
  const parts = partsOf(run).map(({ kind, name, count }) => {
    const earlier = first.get(kind) ?? 0;
    return { name, count: count + (kind === 'left' ? Math.max(0, earlier - run.count) : earlier) };
  });
  const some = parts.filter(({ count }) => count > 0).map(({ name, count }) => `${count.toLocaleString('en')} ${name}`);
  return `Both runs: ${some.join(', ')}, of ${counted(before.count, 'order')}.`;
}

/** Says whether the canary helped its orders, so that a person can decide about the other orders. */
function canaryText(verified: BulkRun['verified']): string {
  const { running, passed } = verified;
  const failed = failuresOf(verified);
  if (running > 0) return `Each order of the canary has the instruction. Whether it helped ${counted(running, 'order')} is not known yet.`;
  if (failed > 0)
    return `The canary shows that the instruction does not help: ${counted(failed, 'order')} failed, ${passed} passed. Nothing more is sent.`;
  return `The canary has ended${passed > 0 ? `: ${counted(passed, 'order')} passed` : ''}. Let the run go on, or stop it.`;
}
