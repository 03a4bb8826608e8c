import type { HistoryEntry, Order, Step } from '../../api/types.ts';
import { type Around, isUndo, type Known, type Look, lookOf } from '../../graph/look.ts';
import { Chip } from '../../parts/chip.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Json } from '../../parts/json.tsx';
import { Facts } from '../../parts/states.tsx';
import { At, Countdown, counted, Said } from '../../parts/text.tsx';
import { lengthOf } from '../../time.ts';

interface StepsProps {
  readonly order: Order;
  /** The steps as they are, or as they were at a past moment. */
  readonly steps: readonly Known[];
  readonly around: Around;
  readonly chosen: string | undefined;
  readonly choose: (path: string) => void;
}

/** The steps as a list: the text alternative of the graph, on every size. */
export function Steps({ order, steps, around, chosen, choose }: StepsProps) {
  const known = new Map(steps.map((step) => [step.path, step]));
  return (
    <ol class="steps">
      {order.steps
        .filter(({ path }) => !isUndo(path) && known.has(path))
        .map(({ path, name, agent, operation, activity }) => {
          const look = lookOf(known.get(path) as Known, around, known.get(`${path}/undo`));
          return (
            <li key={path} class={`${look.kind} ${path === chosen ? 'on' : ''}`}>
              <Icon name={look.icon} tone={look.tone} />
              <button class="step-name" type="button" aria-pressed={path === chosen} onClick={() => choose(path)}>
                <b>{name}</b> <span class="muted mono">{agent === null ? activity : `${agent}.${operation}`}</span>
              </button>
              <span class="says">{look.word}</span>
            </li>
          );
        })}
    </ol>
  );
}

const tones: { readonly [kind: string]: 'ok' | 'work' | 'undo' | 'off' | 'stop' | 'warn' } = {
  done: 'ok',
  work: 'work',
  rest: 'work',
  late: 'warn',
  ask: 'warn',
  unknown: 'warn',
  block: 'stop',
  stuck: 'stop',
  undoing: 'undo',
  undone: 'undo',
};

const StepChip = ({ look: { kind, icon, says, word } }: { look: Look }) => {
  const tone = tones[kind] ?? 'off';
  return (
    <Chip tone={tone} icon={icon} tinted={tone === 'stop' || tone === 'warn' || tone === 'undo'}>
      {kind === 'done' ? 'done' : says || word}
    </Chip>
  );
};

/** Answers, in words, whether the effect of a step exists. */
function doneText(step: Known, { fault, outcome }: Order, look: Look): string | undefined {
  if (step.isUnknown && look.icon === 'unknown' && step.result === 'Canceled')
    return `Perhaps: it was requested, and canceled before its answer came. No person is needed. ${
      outcome === 'terminated' ? 'Nothing is undone.' : 'If it has an undo, the order undoes it by itself.'
    }`;
  if (look.kind === 'unknown') return 'Nobody knows: the answer is missing or makes no sense.';
  if (look.kind === 'done') return 'Yes.';
  if (look.kind === 'undone')
    return look.says === 'by hand' ? 'It was done. A person says that it is undone.' : 'It was done, and is undone.';
  if (look.kind === 'block') return fault?.permanent ? 'No. The service refused it.' : 'It is not known to be done: no attempt succeeded.';
  if (look.kind === 'work' || look.kind === 'late') return step.result === 'Faulted' ? 'No.' : 'Not known yet: the answer is outstanding.';
  return undefined;
}

/** The person who has marked the undo of a step as done, and the reason. */
function markOf(path: string, entries: readonly HistoryEntry[]): string | undefined {
  const at = entries.findLastIndex((entry) => entry.type === 'MarkedCompensated' && entry.path === path);
  const given = entries.slice(0, Math.max(0, at)).findLast(({ type }) => type === 'InstructionGiven');
  if (at < 0) return undefined;
  return given ? `marked as undone by ${String(given['by'])}: “${String(given['reason'])}”` : 'marked as undone by hand';
}

function undoText(undo: Step, step: Step, entries: readonly HistoryEntry[]): string {
  const mark = markOf(step.path, entries);
  if (mark !== undefined) return mark;
  const requested = `requested ${counted(undo.attempts, 'time')}`;
  return `${undo.agent}.${undo.operation}: ${undo.skipped === 'done' ? 'marked as undone by hand' : undo.status === 'Closed' ? 'done' : requested}`;
}

/** Everything about one step. */
export function StepPanel({ step, order, entries }: { step: Step & Known; order: Order; entries: readonly HistoryEntry[] }) {
  const { fault } = order;
  const isFault = fault?.source === step.path;
  const undo = order.steps.find(({ path }) => path === `${step.path}/undo`);
  const look = lookOf(step, order, undo);
  const took = step.startedAt && step.closedAt ? `, took ${lengthOf(Date.parse(step.closedAt) - Date.parse(step.startedAt))}` : '';
  return (
    <section class="panel" aria-label={`Step ${step.name}`}>
      <header>
        <h2>{step.name}</h2>
        <StepChip look={look} />
        <span class="end mono t-s muted clip">{step.path}</span>
      </header>
      <div class="body stack">
        {isFault && (
          <div class="quote stop">
            <b>{fault.type}</b>
            <div>
              <Said lines>{fault.message}</Said>
            </div>
          </div>
        )}
        <Facts
          facts={[
            ['State', look.word],
            ['Done?', doneText(step, order, look)],
            ['Again?', isFault ? (fault.permanent ? 'The same input would fail again.' : 'It may pass later.') : undefined],
            ['Requests', step.attempts > 0 ? `${step.attempts}${took}` : undefined],
            ['Operation', step.agent === null ? step.activity : <code>{`${step.agent}.${step.operation}`}</code>],
            ['Started', step.startedAt && <At at={step.startedAt} />],
            ['Closed', step.closedAt && <At at={step.closedAt} />],
            [
              'Complete by',
              step.closedAt === null && step.completeBy && step.status !== 'Faulting' ? (
                <>
                  <At at={step.completeBy} /> <Countdown until={step.completeBy} still={order.suspended} />
                </>
              ) : undefined,
            ],
            ['Undo', undo && <Said key="undo">{undoText(undo, step, entries)}</Said>],
          ]}
        />
        {step.input !== undefined && <Part title="Input" value={step.input} />}
        {step.output !== null && step.output !== undefined && <Part title="Output" value={step.output} />}
      </div>
    </section>
  );
}

const Part = ({ title, value }: { title: string; value: unknown }) => (
  <div>
    <h3>{title}</h3>
    <Json value={value} label={title} />
  </div>
);
