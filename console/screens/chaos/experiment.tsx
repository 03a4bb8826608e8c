import { useState } from 'preact/hooks';
import { connection, Problem, post } from '../../api/client.ts';
import { has } from '../../api/session.ts';
import type { Chaos, Experiment as Found } from '../../api/types.ts';
import { curlOf } from '../../instructions/commands.ts';
import { Chip } from '../../parts/chip.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/states.tsx';
import { counted, shortId } from '../../parts/text.tsx';
import { copy } from '../../parts/toast.tsx';
import { orderLink } from '../../router.ts';
import { exactTime, lengthOf } from '../../time.ts';
import { words } from './text.ts';

interface Props {
  readonly fault: Chaos['faults'][number];
  /** The latest experiment of this kind. */
  readonly last: Found | undefined;
  readonly agent: string;
  readonly sample: string;
  readonly refresh: () => void;
}

/** One fault: the events that should happen, each ticked when it has happened, and the button that injects the fault. */
export function Experiment({ fault: { kind, seconds, steps }, last, agent, sample, refresh }: Props) {
  const [problem, setProblem] = useState<string>();
  const { title, button, icon, needsAgent } = words[kind];
  const isRunning = last !== undefined && last.endedAt === null;
  const body = { kind, ...(needsAgent ? { agent } : {}), ...(sample === '' ? {} : { sample }) };
  const act = (path: string, given: unknown): void => {
    setProblem(undefined);
    post(path, given).then(refresh, (error: unknown) => {
      const refused = error instanceof Problem ? (error.errors[0]?.detail ?? error.detail) : String(error);
      setProblem(refused);
    });
  };
  return (
    <Panel title={title} end={last && <State last={last} />}>
      <div class="body">
        <ol class="expect">
          {steps.map((text, index) => {
            const step = last?.steps[index];
            return <Step key={text} text={step?.text ?? text} step={step} last={last} isNext={isRunning && isNext(last, index)} />;
          })}
        </ol>
        {last && <Orders last={last} />}
        {problem !== undefined && (
          <div class="note stop" role="alert">
            <Icon name="stop" />
            <div>{problem}</div>
          </div>
        )}
        {has('operator') && (
          <div class="row acts">
            {isRunning ? (
              <button class="btn" type="button" onClick={() => act(`/chaos/${last.id}/stop`, {})}>
                <Icon name="square" />
                End it now
              </button>
            ) : (
              <button class="btn" type="button" disabled={connection.value.lostSince !== undefined} onClick={() => act('/chaos', body)}>
                <Icon name={icon} />
                {button(agent, seconds)}
              </button>
            )}
            <button class="btn bare sm lo" type="button" onClick={() => copy(curlOf({ path: '/chaos', body }), 'the call')}>
              <Icon name="cli" />
              Copy as curl
            </button>
          </div>
        )}
      </div>
    </Panel>
  );
}

const isNext = ({ steps }: Found, index: number): boolean => steps.findIndex(({ at }) => at === null) === index;

function State({ last: { state, startedAt, endedAt } }: { last: Found }) {
  if (state === 'passed')
    return (
      <Chip tone="ok" icon="done" tinted>
        {`as it should, in ${lengthOf(Date.parse(endedAt ?? startedAt) - Date.parse(startedAt))}`}
      </Chip>
    );
  if (state === 'stopped')
    return (
      <Chip tone="off" icon="square">
        ended by a person
      </Chip>
    );
  return state === 'waiting' ? (
    <Chip tone="work" icon="clock" tinted>
      waits for an order
    </Chip>
  ) : (
    <Chip tone="work" icon="work" tinted>
      happening
    </Chip>
  );
}

interface StepProps {
  readonly text: string;
  readonly step: Found['steps'][number] | undefined;
  readonly last: Found | undefined;
  readonly isNext: boolean;
}

function Step({ text, step, last, isNext: isExpectedNext }: StepProps) {
  const isDone = step?.at !== undefined && step.at !== null && last !== undefined;
  const what = isDone ? 'happened' : isExpectedNext ? 'expected next' : 'expected';
  return (
    <li class={isDone ? '' : 'soft'}>
      <Icon name={isDone ? 'done' : isExpectedNext ? 'work' : 'idle'} tone={isDone ? 'c-ok' : isExpectedNext ? 'c-work' : ''} />
      <span>
        <span class="vh">{`${what}: `}</span>
        {text}
        {step?.note && <span class="muted">{` (${step.note})`}</span>}
      </span>
      {isDone && step.at !== null && (
        <time class="num muted" dateTime={step.at} title={exactTime(step.at)}>
          {`+${lengthOf(Date.parse(step.at) - Date.parse(last.startedAt))}`}
        </time>
      )}
    </li>
  );
}

/** The orders that met the fault. */
function Orders({ last: { orders, steps } }: { last: Found }) {
  const met = steps.flatMap(({ orderId }) => orderId ?? []);
  const all = [...new Set([...orders, ...met])];
  if (all.length === 0)
    return <p class="hint">No order has met the fault yet. Submit an order, or choose a sample above before you start.</p>;
  return (
    <p class="hint">
      {`Watch ${all.length === 1 ? 'its order' : `its ${counted(all.length, 'order')}`}: `}
      {all.map((id) => (
        <span key={id}>
          <a class="id" href={orderLink(id, { tab: 'Timeline' })}>
            {shortId(id)}
          </a>{' '}
        </span>
      ))}
    </p>
  );
}
