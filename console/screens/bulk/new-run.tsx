import { useMemo, useState } from 'preact/hooks';
import { usualStopAfter } from '#roles/bulk/usual-stop';
import { Problem, post } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { has, person } from '../../api/session.ts';
import type { ExceptionGroup } from '../../api/types.ts';
import { curlOf, quoted } from '../../instructions/commands.ts';
import { kinds } from '../../instructions/kinds.ts';
import { Copies } from '../../parts/copies.tsx';
import { useDraft } from '../../parts/draft.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { ReasonField } from '../../parts/reason-field.tsx';
import { Facts, PageHead, Panel, Skeleton } from '../../parts/states.tsx';
import { counted, groupName, Said, shortId } from '../../parts/text.tsx';
import { go, href, queried } from '../../router.ts';
import { forMany } from './text.tsx';
import { useUntouched } from './use-untouched.ts';

/** Marks a field that a person has not changed. Its default value depends on the number of orders. */
const usual = '\0';

const filterNames = ['fingerprint', 'workflow', 'fault', 'state'] as const;

/** The form of a new bulk run: which orders, what, how fast, and when it stops by itself. */
export function NewRun() {
  const from = queried('from');
  const untouched = useUntouched(from);
  const isRead = from === '' || (untouched !== undefined && !(untouched instanceof Problem));
  const left = untouched instanceof Problem ? undefined : untouched;
  const filter = useMemo(() => (from === '' ? filterOf() : left ? { ids: left.ids } : {}), [location.hash, left]);
  const groups = usePoll<{ items: readonly ExceptionGroup[] }>(
    filter.fingerprint ? '/exceptions/groups?state=open&limit=100' : undefined,
    10_000,
  );
  const group = groups.data?.items.find(({ fingerprint }) => fingerprint === filter.fingerprint);
  const orderCount = filter.ids?.length ?? group?.open;
  const start = { kind: queried('kind') || 'resubmit', reason: usual, rate: usual, canary: usual, stopAfter: usual };
  const draft = useDraft(`${person.value?.subject ?? ''} bulk ${from || JSON.stringify(filter)}`, start);
  const { kind } = draft.value;
  const [problem, setProblem] = useState<Problem>();
  const [key] = useState(() => crypto.randomUUID());
  const known = forMany.find((each) => each === kind) ?? 'resubmit';
  // A run that continues another one takes over its reason and rate. It has no canary, because the other run has sent one already.
  const defaults = {
    reason: left?.run.reason ?? '',
    rate: String(left?.run.ratePerSecond ?? 10),
    canary: from !== '' || orderCount === undefined || orderCount < 3 ? '' : String(Math.max(1, Math.ceil(orderCount / 100))),
    stopAfter: String(usualStopAfter(orderCount ?? 0)),
  };
  const given = (name: keyof typeof defaults): string => (draft.value[name] === usual ? defaults[name] : draft.value[name]);
  const [reason, rate, canary, stopAfter] = [given('reason'), given('rate'), given('canary'), given('stopAfter')];
  const body = {
    filter,
    instruction: { kind: known },
    reason,
    ratePerSecond: Number(rate),
    ...numberOf('canary', canary),
    ...numberOf('stopAfterFailures', stopAfter),
    ...(from === '' ? {} : { continues: from }),
  };
  const prepare = (): void => {
    setProblem(undefined);
    post<{ id: string }>('/bulk', body, { headers: { 'idempotency-key': key } }).then(
      ({ id }) => {
        draft.discard();
        go(`/bulk/${id}`);
      },
      (error: unknown) => setProblem(error instanceof Problem ? error : undefined),
    );
  };
  const command = [
    `npx redress bulk preview ${known}`,
    ...filterNames.flatMap((name) => (filter[name] === undefined ? [] : [`--${name} ${quoted(filter[name])}`])),
    ...(filter.ids ? [`--ids ${filter.ids.join(' ')}`] : []),
    `--rate ${rate}`,
    ...(body.canary === undefined ? [] : [`--canary ${body.canary}`]),
    ...(body.stopAfterFailures === undefined ? [] : [`--stop-after ${body.stopAfterFailures}`]),
    ...(from === '' ? [] : [`--continues ${from}`]),
    `--reason ${quoted(reason || 'why')}`,
  ].join(' ');
  const isEmpty = Object.keys(filter).length === 0;
  return (
    <>
      <PageHead title="New bulk run" lede="nothing is sent before you start it" />
      <div class="bulk">
        <Panel title="One instruction for many orders">
          <div class="body stack">
            <div class="field">
              <label for="bulk-kind">Do</label>
              <select
                class="input"
                id="bulk-kind"
                value={known}
                onChange={({ currentTarget }) => draft.change({ kind: currentTarget.value })}
              >
                {forMany.map((each) => (
                  <option key={each} value={each}>
                    {`${kinds[each].name}: ${kinds[each].does}`}
                  </option>
                ))}
              </select>
            </div>
            <div class="grid2 three">
              <NumberField id="rate" label="Orders a second" value={rate} change={(value) => draft.change({ rate: value })} />
              <NumberField
                id="canary"
                label="Pause after the first"
                value={canary}
                empty="no pause"
                about="The first orders are the canary: the run pauses after them, and a person decides whether it goes on."
                change={(value) => draft.change({ canary: value })}
              />
              <NumberField
                id="stopAfter"
                label="Stop when so many have failed"
                value={stopAfter}
                empty="never"
                about="The run then stops by itself, and the other orders stay untouched."
                change={(value) => draft.change({ stopAfter: value })}
              />
            </div>
            <ReasonField id="bulk-reason" value={reason} onText={(next) => draft.change({ reason: next })} maxLength={1024} isFirst />
            {problem && <ProblemNote problem={problem} />}
            <div class="row">
              <button
                class="btn go"
                type="button"
                disabled={reason.trim() === '' || isEmpty || !isRead || !has('operator')}
                onClick={prepare}
              >
                {`Check ${orderCount === undefined ? 'these orders' : orderCount === 1 ? 'this order' : `these ${counted(orderCount, 'order')}`}`}
              </button>
              <span class="hint">
                {has('operator')
                  ? 'Nothing is sent yet. The run begins when you start it.'
                  : 'You can only read here. A change needs the role operator.'}
              </span>
            </div>
            <Copies
              command={() => command}
              curl={() => curlOf({ path: '/bulk', headers: { 'Idempotency-Key': key }, body: { ...body, reason: reason || 'why' } })}
            />
          </div>
        </Panel>
        <Panel title="Which orders">
          <div class="body stack">
            {untouched instanceof Problem && <ProblemNote problem={untouched} />}
            {!isRead && !(untouched instanceof Problem) && <Skeleton rows={3} />}
            {from === '' && isEmpty && <p>No order is chosen. Open a group of exceptions, or select orders in the list.</p>}
            <Facts
              facts={[
                [
                  'From',
                  from === '' ? undefined : (
                    <a key="from" href={href(`/bulk/${from}`)}>
                      the run that stopped: what it left untouched
                    </a>
                  ),
                ],
                ['Group', group && groupName(group)],
                ['Workflow', filter.workflow ?? group?.workflow],
                ['Fault', filter.fault],
                ['State', filter.state],
                ['Orders', isRead ? ordersText(orderCount, left?.isAll !== false) : undefined],
                ['Latest message', group && <Said>{group.sampleMessage}</Said>],
              ]}
            />
            {filter.ids && (
              <ul class="mini-ids">
                {filter.ids.slice(0, 20).map((id) => (
                  <li key={id} class="id">
                    {shortId(id)}
                  </li>
                ))}
                {filter.ids.length > 20 && <li class="muted">{`and ${filter.ids.length - 20} more`}</li>}
              </ul>
            )}
            <p class="hint">The check also determines which orders these are. Orders that match later are not added.</p>
            <p class="hint">A new input, an output or an answer is one order's own value. It is not offered for many.</p>
          </div>
        </Panel>
      </div>
    </>
  );
}

function ordersText(count: number | undefined, isAll: boolean): string {
  if (count === undefined) return 'all that match when they are checked';
  return isAll ? counted(count, 'order') : `the first ${counted(count, 'order')} of them`;
}

function filterOf(): { fingerprint?: string; workflow?: string; fault?: string; state?: string; ids?: readonly string[] } {
  const given = Object.fromEntries(filterNames.flatMap((name) => (queried(name) === '' ? [] : [[name, queried(name)]])));
  const ids = queried('ids').split(',').filter(Boolean);
  return ids.length > 0 ? { ids } : given;
}

/** A number of a field; none for an empty field and for zero, which both mean: without this limit. */
const numberOf = <N extends string>(name: N, text: string): { readonly [name in N]?: number } =>
  (Number(text) === 0 ? {} : { [name]: Number(text) }) as { readonly [name in N]?: number };

interface NumberProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** The meaning of an empty field. */
  readonly empty?: string;
  readonly about?: string;
  readonly change: (value: string) => void;
}

const NumberField = ({ id, label, value, empty = '', about, change }: NumberProps) => (
  <div class="field">
    <label for={`bulk-${id}`}>{label}</label>
    <input
      class="input"
      id={`bulk-${id}`}
      inputMode="numeric"
      value={value}
      placeholder={empty}
      {...(about === undefined ? {} : { 'aria-describedby': `bulk-${id}-about` })}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
    {about !== undefined && (
      <p class="hint" id={`bulk-${id}-about`}>
        {about}
      </p>
    )}
  </div>
);
