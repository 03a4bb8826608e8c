import type { BulkRun } from '../../api/types.ts';
import { Icon } from '../../parts/icon.tsx';
import type { IconName } from '../../parts/icons.ts';
import { Clock, counted } from '../../parts/text.tsx';
import { lengthOf } from '../../time.ts';

/** The stages of a run: the check of the frozen set, the canary, and the rest. */
export function Stages({ run }: { run: BulkRun }) {
  const { state, count, feasible, frozenAt, canary, applied, ratePerSecond, left, verified } = run;
  const isPrepared = state !== 'preparing';
  const hasCanary = canary !== null && canary < feasible;
  const canaryDone = hasCanary && (applied >= canary || state === 'done');
  const rest = Math.max(0, feasible - (hasCanary ? canary : 0));
  const restDone = Math.max(0, feasible - left - (hasCanary ? canary : 0));
  const isRest = isPrepared && (!hasCanary || canaryDone) && (state === 'running' || state === 'paused' || state === 'done');
  return (
    <section class="panel" aria-label="Stages">
      <ol class="stages">
        <Stage icon={isPrepared ? 'done' : 'work'} tone={isPrepared ? 'c-ok' : 'c-work'} name="checked" isOn={!isPrepared}>
          <b>
            {isPrepared
              ? `${counted(count, 'order')}, ${feasible.toLocaleString('en')} possible`
              : `checking, ${(feasible + run.infeasible).toLocaleString('en')} so far`}
          </b>
          <span class="t-s soft">
            {frozenAt ? (
              <>
                as they were at <Clock at={frozenAt} />; later ones are not added
              </>
            ) : (
              'nothing is sent'
            )}
          </span>
        </Stage>
        {hasCanary && (
          <Stage
            icon={canaryDone ? 'done' : 'idle'}
            tone={canaryDone ? 'c-ok' : ''}
            name="canary"
            isOn={!canaryDone && (state === 'running' || state === 'paused')}
          >
            <b>{canaryDone ? `${counted(canary, 'order')}, ${Math.min(canary, verified.passed)} passed` : counted(canary, 'order')}</b>
            <span class="t-s soft">{canaryDone ? 'the first ones; then a person decides' : 'the first ones; then it asks you'}</span>
          </Stage>
        )}
        <Stage
          icon={isRest || state === 'stopped' ? (restIcons[state] ?? 'idle') : 'idle'}
          tone={state === 'done' ? 'c-ok' : state === 'running' && isRest ? 'c-work' : ''}
          name={hasCanary ? 'the rest' : 'all'}
          isOn={isRest && state !== 'done'}
        >
          <b>{`${restDone.toLocaleString('en')} of ${rest.toLocaleString('en')}`}</b>
          <span class="t-s soft">{`at most ${ratePerSecond} a second${lengthText(run)}`}</span>
        </Stage>
      </ol>
    </section>
  );
}

/** Shorter remaining times are not shown. */
const lengthMinMs = 10_000;

/** Returns how long the rest takes. The time is unknown before the canary is done, and in a run with a failure limit, which waits for verdicts. */
function lengthText({ state, left, ratePerSecond, canary, stopAfterFailures, applied }: BulkRun): string {
  const ms = (left / ratePerSecond) * 1_000;
  const isKnown = state === 'running' && stopAfterFailures === null && (canary === null || applied > canary);
  return isKnown && ms >= lengthMinMs ? `, about ${lengthOf(ms)} left` : '';
}

const restIcons: { readonly [state: string]: IconName } = { running: 'work', paused: 'pause', stopped: 'square', done: 'done' };

interface StageProps {
  readonly icon: IconName;
  readonly tone: string;
  readonly name: string;
  readonly isOn: boolean;
  readonly children: preact.ComponentChildren;
}

const Stage = ({ icon, tone, name, isOn, children }: StageProps) => (
  <li class={isOn ? 'on' : ''}>
    <span class="row t-s soft">
      <Icon name={icon} tone={tone} />
      {name}
    </span>
    {children}
  </li>
);
