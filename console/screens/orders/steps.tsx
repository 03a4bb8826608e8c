import type { Order, Step } from '../../api/types.ts';
import { Icon } from '../../parts/icon.tsx';
import type { IconName } from '../../parts/icons.ts';
import { Json } from '../../parts/json.tsx';
import { Facts, Panel } from '../../parts/states.tsx';
import { At, Said } from '../../parts/text.tsx';
import { lengthOf } from '../../time.ts';

interface Look {
  readonly kind: string;
  readonly icon: IconName;
  readonly tone: string;
  readonly word: string;
}

/** How a state of a step looks and reads. Color, icon and word say the same. */
export function lookOf(step: Step, order: Pick<Order, 'processState' | 'fault'>): Look {
  const { status, result, attempts, activity, waitsFor } = step;
  if (status === 'Initialized') return { kind: 'idle', icon: 'idle', tone: '', word: 'not begun' };
  if (status === 'Compensating') return { kind: 'undoing', icon: 'undo', tone: 'c-undo', word: 'being undone' };
  if (result === 'Compensated') return { kind: 'undone', icon: 'undo', tone: 'c-undo', word: 'undone' };
  if (result === 'Canceled' || status === 'Canceling') return { kind: 'cancel', icon: 'cancel', tone: '', word: 'canceled' };
  if (result === 'Faulted') return { kind: 'late', icon: 'warn', tone: 'c-warn', word: 'failed, and handled' };
  if (result === 'Succeeded') return { kind: 'done', icon: 'done', tone: 'c-ok', word: 'done' };
  if (status === 'Faulting' && order.fault?.type === 'OperatorAsked')
    return { kind: 'ask', icon: 'question', tone: 'c-warn', word: 'question' };
  if (status === 'Faulting') return { kind: 'block', icon: 'stop', tone: 'c-stop', word: 'failed' };
  if (waitsFor || activity !== 'step')
    return { kind: 'rest', icon: 'clock', tone: 'c-work', word: waitsFor?.kind === 'outage' ? 'waits for the service' : 'waits' };
  if (attempts > 1) return { kind: 'late', icon: 'clock', tone: 'c-warn', word: `request ${attempts}` };
  return { kind: 'work', icon: 'work', tone: 'c-work', word: 'at work' };
}

const timeOf = ({ startedAt, closedAt }: Step): string =>
  startedAt !== null && closedAt !== null ? lengthOf(Date.parse(closedAt) - Date.parse(startedAt)) : '';

export const Steps = ({ order, chosen, choose }: { order: Order; chosen: string | undefined; choose: (path: string) => void }) => (
  <ol class="steps">
    {order.steps.map((step) => {
      const { kind, icon, tone, word } = lookOf(step, order);
      return (
        <li key={step.path} class={`${kind} ${step.path === chosen ? 'on' : ''}`}>
          <Icon name={icon} tone={tone} />
          <button class="step-name" type="button" aria-pressed={step.path === chosen} onClick={() => choose(step.path)}>
            <b>{step.name}</b> <span class="muted mono">{step.agent === null ? step.activity : `${step.agent}.${step.operation}`}</span>
          </button>
          <span class="soft">{timeOf(step)}</span>
          <span class="says">{word}</span>
        </li>
      );
    })}
  </ol>
);

export function StepPanel({ step, order }: { step: Step; order: Order }) {
  const { fault } = order;
  const isFault = fault?.source === step.path;
  return (
    <Panel title={step.name} aside={<span class="mono t-s">{step.path}</span>}>
      <div class="body stack">
        {isFault && (
          <div class="quote stop">
            <b>{fault.type}</b>
            <div>
              <Said>{fault.message}</Said>
            </div>
          </div>
        )}
        <Facts
          facts={[
            ['State', lookOf(step, order).word],
            [
              'Kind',
              isFault ? `${fault.class}, ${fault.permanent ? 'permanent: the same input fails again' : 'it may pass later'}` : undefined,
            ],
            ['Operation', step.agent === null ? step.activity : <code>{`${step.agent}.${step.operation}`}</code>],
            ['Requests', step.attempts > 0 ? String(step.attempts) : undefined],
            ['Started', step.startedAt && <At at={step.startedAt} />],
            ['Closed', step.closedAt && <At at={step.closedAt} />],
            ['Complete by', step.closedAt === null && step.completeBy ? <At at={step.completeBy} /> : undefined],
          ]}
        />
        {step.input !== undefined && (
          <div>
            <h3>Input</h3>
            <Json value={step.input} label="Input" />
          </div>
        )}
        {step.output !== null && (
          <div>
            <h3>Output</h3>
            <Json value={step.output} label="Output" />
          </div>
        )}
      </div>
    </Panel>
  );
}
