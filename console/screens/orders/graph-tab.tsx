import { useState } from 'preact/hooks';
import type { Check, InstructionKind, Order, Step } from '../../api/types.ts';
import { Graph } from '../../graph/graph.tsx';
import { definitionPath, isUndo, type Known, looksOf } from '../../graph/look.ts';
import { pastOf } from '../../graph/past.ts';
import { useDrawn } from '../../graph/use-layout.ts';
import { Builder } from '../../instructions/builder.tsx';
import { checkLooks } from '../../instructions/check-looks.ts';
import { Icon } from '../../parts/icon.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Skeleton } from '../../parts/states.tsx';
import { queried, setQuery } from '../../router.ts';
import { isLockedByOther } from './lock.tsx';
import { MaskedFaults } from './masked-faults.tsx';
import { PastBar, Scrubber } from './scrubber.tsx';
import { StepPanel, Steps } from './steps.tsx';
import { UndoPanel } from './undo-panel.tsx';
import type { History } from './use-history.ts';

interface Props {
  readonly order: Order;
  readonly history: History | undefined;
  readonly instruct: (kind: InstructionKind, at?: string) => void;
  readonly applied: (kind: InstructionKind, path: string) => void;
  readonly building: InstructionKind | undefined;
}

/** The graph of an order with a panel beside it: a step, an undo, or the form of an instruction. */
export function GraphTab({ order, history, instruct, applied, building }: Props) {
  const [pastAt, setPast] = useState<number>();
  const [check, setCheck] = useState<Check>();
  const entries = history?.entries ?? [];
  const drawn = useDrawn(order.workflow);
  const past = pastAt === undefined || building ? undefined : pastOf(order, entries, pastAt);
  const steps: readonly Known[] = past?.steps ?? withHistory(order, entries);
  const around = past ? { fault: past.fault } : order;
  const [chosen, choose] = useChosen(order);
  const looks = looksOf(steps, around);
  const reached = past?.reached ?? reachedNow(order, entries);
  const step = withHistory(order, entries).find(({ path }) => path === chosen);
  const isShown = drawn !== null && queried('view') !== 'list';
  const move = (at: number | undefined): void => setPast(at);
  useKeys(
    [
      { key: '[', what: 'One entry of the history back', run: () => move(Math.max(1, (pastAt ?? entries.length) - 1)) },
      {
        key: ']',
        what: 'One entry of the history forward',
        run: () => move(pastAt === undefined || pastAt + 1 >= entries.length ? undefined : pastAt + 1),
      },
      { key: 'v', what: 'Graph, or list of steps', run: () => setQuery({ view: isShown ? 'list' : undefined }) },
      { key: 'b', what: 'First blocked step', run: () => choose(order.fault?.source ?? order.undo?.stuck[0]?.path ?? chosen ?? '') },
    ],
    [pastAt, entries.length, isShown, order.rev, chosen],
  );
  return (
    <div class="split">
      <section class="panel" aria-label="Graph">
        {check && (
          <div class={`note ${check.feasible ? 'work' : 'stop'} past-bar`} role="status">
            <Icon name={check.feasible ? 'eye' : 'stop'} />
            <div>
              {check.feasible ? 'This is what it would do. Nothing has been sent.' : 'Not possible. The graph shows the order as it is.'}
            </div>
          </div>
        )}
        {past && <PastBar entry={entries[(pastAt ?? 1) - 1]} back={() => move(undefined)} />}
        {isShown && (
          <div class="canvas">
            {drawn ? (
              <Graph
                layout={drawn.layout}
                label={spoken(order, looks)}
                looks={check?.feasible ? checkLooks(check, looks) : looks}
                reached={reached}
                isEnded={!past && (order.outcome === 'completed' || order.outcome === 'compensated')}
                chosen={chosen === undefined ? undefined : definitionPath(chosen)}
                choose={(path) => choose(order.steps.find((each) => definitionPath(each.path) === path)?.path ?? path)}
              />
            ) : (
              <Skeleton rows={6} />
            )}
          </div>
        )}
        <div class={isShown ? 'phone' : ''}>
          <Steps order={order} steps={steps} around={around} chosen={chosen} choose={choose} />
        </div>
        {entries.length > 1 && !building && <Scrubber entries={entries} at={pastAt} move={move} />}
      </section>
      {building ? (
        <Builder
          key={building}
          kind={building}
          at={queried('at') || undefined}
          order={order}
          workflow={drawn?.workflow}
          entries={entries}
          changeKind={(kind) => instruct(kind)}
          close={() => setQuery({ do: undefined, at: undefined })}
          showCheck={setCheck}
          applied={(kind, path) => {
            // The panel stays at the step, although the order may be at another one by now.
            setQuery({ step: path || queried('step') || undefined });
            applied(kind, path);
          }}
          barred={isLockedByOther(order) ? 'Another person holds the order.' : undefined}
        />
      ) : (
        <div class="stack">
          {order.undo && <UndoPanel order={order} undo={order.undo} instruct={instruct} />}
          {order.maskedFaults && <MaskedFaults orderId={order.orderId} masked={order.maskedFaults} />}
          {step && !(order.undo && queried('step') === '') && <StepPanel step={step} order={order} entries={entries} />}
        </div>
      )}
    </div>
  );
}

/** The chosen step is in the address. Without one, it is the step that needs a person, or the one at work. */
function useChosen(order: Order): readonly [string | undefined, (path: string) => void] {
  const steps = order.steps.filter(({ path }) => !isUndo(path));
  const first =
    steps.find(({ path }) => path === order.undo?.stuck[0]?.path) ??
    steps.find(({ path }) => path === order.fault?.source) ??
    steps.find(({ status }) => status === 'Faulting') ??
    steps.find(({ status }) => status === 'Executing') ??
    steps[0];
  const chosen = steps.find(({ path }) => path === queried('step')) ?? first;
  return [chosen?.path, (path) => setQuery({ step: path })];
}

/** Adds what only the history knows: which steps were skipped, and whose outcome is unknown. */
function withHistory(
  { steps }: Order,
  entries: readonly { readonly type: string; readonly path?: string | undefined }[],
): readonly (Step & Known)[] {
  const skipped = new Set(entries.filter(({ type }) => type === 'ActivitySkipped').map(({ path }) => path));
  const unknown = new Set(entries.filter(({ type }) => type === 'OutcomeUnknown').map(({ path }) => path));
  return steps.map((step) => ({
    ...step,
    isSkipped: skipped.has(step.path),
    isUnknown: unknown.has(step.path) && step.result !== 'Succeeded',
  }));
}

function reachedNow({ steps, processState }: Order, entries: readonly { readonly path?: string | undefined }[]): ReadonlySet<string> {
  const begun = steps.filter(({ status }) => status !== 'Initialized').map(({ path }) => path);
  const paths = [...entries.flatMap(({ path }) => (path === undefined ? [] : [path])), ...begun].map(definitionPath);
  return new Set(processState === 'Pending' ? [] : paths);
}

const spoken = ({ workflow, steps }: Order, looks: ReturnType<typeof looksOf>): string =>
  `${workflow.name}@${workflow.version}: ${steps
    .filter(({ path }) => !isUndo(path))
    .map(({ name, path }) => `${name} ${looks.get(definitionPath(path))?.word ?? ''}`)
    .join(', ')}`;
