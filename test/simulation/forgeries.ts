import { workflowsAgent } from '#core/data/child-order';
import { requestIdOf } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { queueNames as names, timeText } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import { decodeInstance } from '#roles/scheduler/instance';
import { definitions } from './app.ts';
import type { Reach } from './clients.ts';
import type { Chance } from './random.ts';

const everyMs = [200, 3000] as const;
/** The most forged replies in one world. */
const answersMax = 30;
const agents = ['stock', 'bank', 'carrier', 'hotel', 'mail', 'ledger'];

/** A text that occurs in every forged reply, and nowhere else. */
export const forgedWord = 'nobody has done this';
const output = { id: forgedWord, key: { code: forgedWord }, safe: { pin: 7, sign: 'no', door: forgedWord } };
const done = { status: 'succeeded', output };
const notDone = { status: 'failed', fault: { type: 'NotDone', message: forgedWord, permanent: true } };
const noOutput = { status: 'succeeded', output: { not: forgedWord } };

/** A request that waits for its reply. */
interface Open {
  readonly orderId: string;
  readonly path: string;
  readonly agent: string;
  readonly own: StepState;
}

/** A forged reply to an open request. `named`: the fields that do not match the request. */
interface Forgery {
  readonly agent: string;
  readonly named?: { readonly path?: string; readonly attempt?: number; readonly epoch?: number };
  readonly result: object;
}

/** Sends replies from parties that received no request, until faults are over. */
export function forge(reach: Reach, chance: Chance, left = answersMax): void {
  const { timeline, faults } = reach.around;
  timeline.after(chance.between(...everyMs), 'somebody answers who was not asked', () => {
    if (faults.over || left === 0) return;
    const open = [...reach.shared.last.values()].flatMap(({ state }) => openIn(state));
    if (open.length > 0) answer(reach, chance.pick(open), chance);
    forge(reach, chance, open.length > 0 ? left - 1 : left);
  });
}

function openIn(state: StateRecord): readonly Open[] {
  const program = definitions.program(state.workflow.name, state.workflow.version);
  if (state.processState !== 'Processing' || !program) return [];
  return Object.entries(decodeInstance(state).state.activities).flatMap(([path, activity]) => {
    const own = activity.local as StepState | undefined;
    const node = nodeAt(program, path);
    const isOpen = isRemote(node) && node.agent !== workflowsAgent && own?.phase === 'requested';
    return isOpen ? [{ orderId: state.orderId, path, agent: node.agent, own }] : [];
  });
}

function answer({ queues, around }: Reach, { orderId, path, agent, own }: Open, chance: Chance): void {
  const { attempt, epoch } = own;
  const other = chance.pick(agents.filter((name) => name !== agent));
  const { named, ...forged } = chance.pick<Forgery>([
    { agent, result: done, named: { path: `${path}/elsewhere` } },
    { agent, result: done, named: { attempt: attempt + 1 } },
    { agent, result: done, named: { epoch: epoch + 1 } },
    { agent: other, result: done },
    { agent: other, result: notDone },
    { agent: other, result: notDone },
    { agent, result: noOutput },
    { agent, result: noOutput },
  ]);
  const asking = { requestId: requestIdOf(orderId, path, own), orderId, path, attempt, epoch, ...named };
  const sentAt = timeText(around.timeline.now);
  const body = JSON.stringify({ v: 1, type: 'reply', ...asking, sentAt, result: forged.result });
  const queue = names.replies(forged.agent);
  around.narrate(() => `forged on ${queue}: ${body}`);
  queues.put(queue, body, 0);
  // The request id contradicts the other fields, so no role accepts the message.
  if (named) around.record({ type: 'poisoned', body });
}
