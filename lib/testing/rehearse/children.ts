import { calledIn } from '#authoring/workflow';
import { outputOf } from '#core/data/child-order';
import type { RequestCommand } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import { engineFault, engineFaults } from '#core/data/fault';
import { generationOf, idempotencyKeyOf, undonePath } from '#core/data/ids';
import { misfit } from './answers.ts';
import { inside, Player } from './player.ts';
import { notCompleted, type Purpose } from './stubs.ts';
import type { World } from './world.ts';

/** The agent behind calls: it starts, cancels and compensates called orders. */
export class Children {
  private readonly world: World;
  /** Called orders by the idempotency key of their call. */
  private readonly byKey = new Map<string, Player>();

  constructor(world: World) {
    this.world = world;
  }

  get all(): readonly Player[] {
    return [...this.byKey.values()];
  }

  serve(caller: Player, command: RequestCommand, purpose: Purpose): void {
    if (purpose === 'undo') return this.undo(caller, command);
    const child = this.byKey.get(command.idempotencyKey);
    if (child) return this.answerAtEnd(child, caller, command, purpose);
    if (purpose === 'confirm') return this.world.answer(caller, command, purpose, notCompleted('The called order never started.'));
    this.start(caller, command);
  }

  cancel(idempotencyKey: string): void {
    const child = this.byKey.get(idempotencyKey);
    if (child) this.world.happen(child, { type: 'canceled', outcome: 'canceled' });
  }

  /** Answers the caller of a closed order, if the caller waits. */
  ended(child: Player): void {
    const { waiter } = child;
    child.waiter = undefined;
    if (waiter) this.world.answer(waiter.player, waiter.command, waiter.purpose, replyOf(child, waiter.purpose));
  }

  private start(caller: Player, command: RequestCommand): void {
    const { operation, input, path, idempotencyKey } = command;
    const workflow = calledIn(caller.program.definition).get(operation);
    if (!workflow)
      throw new Error(
        `Cannot play workflow ${operation} (${caller.prefix}${path}): ${caller.name} was loaded as plain data. Add a stub: given(…).answers({…}).`,
      );
    const problem = misfit(workflow.order, input);
    if (problem !== undefined) {
      const message = `Invalid order for ${operation}: ${problem}.`;
      return this.world.answer(caller, command, 'do', { status: 'failed', fault: engineFault(engineFaults.requestRefused, message) });
    }
    const prefix = inside(`${caller.prefix}${path}`);
    const child = new Player(workflow, input, { orderId: idempotencyKey, prefix, label: inside(`${caller.label}${workflow.name}`) });
    this.byKey.set(idempotencyKey, child);
    child.waiter = { player: caller, command, purpose: 'do' };
    this.world.happen(child, { type: 'started', stepMs: this.world.stepMs, called: true });
  }

  /** Answers when the called order ends. If the request only confirms the outcome, the call has failed, so the called order is canceled. */
  private answerAtEnd(child: Player, player: Player, command: RequestCommand, purpose: Purpose): void {
    child.waiter = { player, command, purpose };
    if (child.state.phase === 'closed') return this.ended(child);
    if (purpose === 'confirm') this.world.happen(child, { type: 'canceled', outcome: 'canceled' });
  }

  private undo(caller: Player, command: RequestCommand): void {
    const path = undonePath(command.path);
    const child = this.byKey.get(idempotencyKeyOf(caller.orderId, path, generationOf(command.requestId)));
    if (child?.state.outcome !== 'completed') return this.world.answer(caller, command, 'undo', { status: 'succeeded', output: null });
    child.waiter = { player: caller, command, purpose: 'undo' };
    this.world.happen(child, { type: 'compensatedByCaller' });
  }
}

function replyOf({ name, state }: Player, purpose: Purpose): StepReply {
  if (purpose === 'undo') return { status: 'succeeded', output: null };
  if (state.outcome === 'completed') return { status: 'succeeded', output: outputOf(state) ?? null };
  return state.failure ? { status: 'failed', fault: state.failure } : notCompleted(`${name} ended as ${state.outcome}.`);
}
