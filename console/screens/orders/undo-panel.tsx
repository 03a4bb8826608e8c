import { usePoll } from '../../api/poll.ts';
import { has } from '../../api/session.ts';
import type { InstructionKind, Order, UndoPlan } from '../../api/types.ts';
import { kindFor } from '../../instructions/kinds.ts';
import { Chip } from '../../parts/chip.tsx';
import { Panel } from '../../parts/states.tsx';
import { At, Countdown, counted, Said, stepName } from '../../parts/text.tsx';

type Undo = NonNullable<Order['undo']>;

/** An order that is being undone: what comes next, what is stuck, and what an operator can do about it. */
export function UndoPanel({ order, undo, instruct }: { order: Order; undo: Undo; instruct: (kind: InstructionKind, at?: string) => void }) {
  const plan = usePoll<UndoPlan>(`/orders/${order.orderId}/plan`);
  const [first] = undo.stuck;
  const steps = plan.data?.steps ?? [];
  const listed =
    steps.length > 0
      ? steps.map(({ path, agent, operation }) => ({ path, operation: `${agent}.${operation}` }))
      : undo.stuck.map(({ path }) => ({ path, operation: '' }));
  return (
    <div class="stack">
      <Panel title="Undo, newest first" end={<span class="muted">{`${undo.done} of ${undo.done + undo.left} done`}</span>}>
        <ol class="plan">
          {listed.map(({ path, operation }, index) => (
            <Line
              key={path}
              path={path}
              operation={operation}
              place={index + 1}
              before={listed[index - 1]?.path}
              undo={undo}
              isStopped={order.suspended}
            />
          ))}
        </ol>
        {plan.data && plan.data.withoutUndo.length > 0 && (
          <footer>{`${plan.data.withoutUndo.map(({ path }) => stepName(path)).join(', ')} ${plan.data.withoutUndo.length === 1 ? 'has' : 'have'} no undo and will stay.`}</footer>
        )}
      </Panel>
      {has('operator') && (
        <Panel title="What you can do">
          <div class="body choices">
            {first && !order.suspended && (
              <Choice
                name="Request the undo again now"
                does="The pause before the next request ends."
                act={() => instruct('retry-undo', first.path)}
                verb="Retry…"
              />
            )}
            {first && (
              <Choice
                name={`Mark ${stepName(first.path)} as undone by hand`}
                does={`Nothing is requested for ${stepName(first.path)} any more; the other undos go on${order.suspended ? ' when somebody resumes the order' : ''}. It cannot be taken back.`}
                act={() => instruct('mark-compensated', first.path)}
                verb="Mark as undone…"
                harm
              />
            )}
            {order.suspended && (
              <Choice
                name="Let the undo go on"
                does={first ? `The undo of ${stepName(first.path)} is requested again.` : 'The order continues where it stands.'}
                act={() => instruct('resume')}
                verb="Resume…"
              />
            )}
            {!order.suspended && (
              <Choice
                name={kindFor('suspend', order).name}
                does="Nothing more is requested until somebody resumes it."
                act={() => instruct('suspend')}
                verb={`${kindFor('suspend', order).name}…`}
              />
            )}
            <Choice
              name="End it as it is"
              does="What is not undone yet stays done."
              act={() => instruct('terminate')}
              verb="Terminate…"
              harm
            />
          </div>
        </Panel>
      )}
    </div>
  );
}

interface LineProps {
  readonly path: string;
  readonly operation: string;
  readonly place: number;
  /** The step whose undo comes before this one. */
  readonly before: string | undefined;
  readonly undo: Undo;
  readonly isStopped: boolean;
}

function Line({ path, operation, place, before, undo, isStopped }: LineProps) {
  const stuck = undo.stuck.find((each) => each.path === path);
  const isNow = undo.now === path;
  return (
    <li>
      <span class={`n ${stuck ? 'bad' : ''}`}>{place}</span>
      <span>
        <b>{stepName(path)}</b> <span class="mono muted">{operation}</span>
      </span>
      {stuck ? (
        <Chip tone="stop" icon="stuck" tinted>
          stuck
        </Chip>
      ) : (
        <span class="soft">
          {isNow ? (isStopped ? 'requested before' : 'requested') : before === undefined ? 'next' : `after ${stepName(before)}`}
        </span>
      )}
      {stuck && (
        <span class="more t-s">
          {stuck.lastFault && (
            <span class="c-stop">
              {`${stuck.lastFault.type}: `}
              <Said>{stuck.lastFault.message}</Said>
            </span>
          )}
          <span class="soft below">
            {`Requested ${counted(stuck.attempts, 'time')}.`}
            {stuck.nextAt && !isStopped && (
              <>
                {' '}
                Next at <At at={stuck.nextAt} />, <Countdown until={stuck.nextAt} still={false} />.
              </>
            )}
          </span>
        </span>
      )}
    </li>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly does: string;
  readonly verb: string;
  readonly act: () => void;
  readonly harm?: boolean;
}

const Choice = ({ name, does, verb, act, harm = false }: ChoiceProps) => (
  <div class="choice">
    <b>{name}</b>
    <span class="t-s">{does}</span>
    <button class={`btn ${harm ? 'harm' : ''}`} type="button" onClick={act}>
      {verb}
    </button>
  </div>
);
