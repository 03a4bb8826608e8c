import { workflowsAgent } from '#core/data/child-order';
import { shortType } from '#core/data/fault';
import { queueNames, type Reply, type Request, type ToAgent } from '#ports/messages';
import { replyTo } from '#roles/scheduler/caller-reply';
import { agentMessageIn } from '#roles/scheduler/incoming';
import type { CreateFunction, FunctionContext, Invocation } from '#runtime/function';
import type { System } from '#runtime/system';
import type { Answers } from '#testing/rehearse/answers';
import type { Rule } from '#testing/rehearse/stubs';

type Event = { readonly Records: readonly { readonly body: string }[] };

/**
 * Wraps the function that starts called orders. A stub of a called workflow answers in place of such an order, and a repeated call gets the
 * same answer.
 */
export function answeringCalls(create: CreateFunction, answers: Answers, labelOf: (orderId: string) => string): CreateFunction {
  const known = new Map<string, Rule | undefined>();
  const ruleFor = ({ operation, path, orderId, idempotencyKey, input }: Request): Rule | undefined => {
    const isUndo = operation === 'undo';
    // The undo of a called order belongs to the stub that answered its call.
    const key = isUndo ? idempotencyKey.replace(/\/undo\/(\d+)$/, '/$1') : idempotencyKey;
    if (!known.has(key) && !isUndo)
      known.set(
        key,
        answers.ruleFor({ operation: `${workflowsAgent}.${operation}`, path: `${labelOf(orderId)}${path}`, purpose: 'do', input }),
      );
    return known.get(key);
  };
  return (context: FunctionContext) => {
    const handler = create(context) as (event: Event, invocation: Invocation) => unknown;
    return async (event: Event, invocation: Invocation) => {
      const rest = [];
      for (const record of event.Records) {
        const message = agentMessageIn(record.body);
        const rule = message.type === 'request' ? ruleFor(message) : undefined;
        if (rule && message.type === 'request') await answer(context.system, message, rule);
        else if (!cancelsStubbedCall(message, known)) rest.push(record);
      }
      return rest.length > 0 ? handler({ ...event, Records: rest }, invocation) : undefined;
    };
  };
}

const cancelsStubbedCall = (message: ToAgent, known: ReadonlyMap<string, Rule | undefined>): boolean =>
  message.type === 'cancel' && known.get(message.idempotencyKey) !== undefined;

async function answer({ queues, clock }: System, request: Request, { answer: stubbed }: Rule): Promise<void> {
  const result = request.operation === 'undo' ? ({ status: 'succeeded', output: {} } as const) : resultOf(stubbed);
  if (!result) return;
  await queues.send([{ queue: queueNames.callReplies, body: JSON.stringify(replyTo(request, result, clock.now())) }]);
}

function resultOf(stubbed: Rule['answer']): Reply['result'] | undefined {
  if (stubbed === 'silence' || stubbed === 'made up' || stubbed.status === 'rejected') return undefined;
  if (stubbed.status === 'succeeded') return { status: 'succeeded', output: stubbed.output };
  const { type, message, permanent } = stubbed.fault;
  return { status: 'failed', fault: { type: shortType(type), message, permanent } };
}
