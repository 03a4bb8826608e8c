import { isQuestion } from '#core/data/fault';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { explain } from '#core/views/explain';
import type { History, Tracked } from '#testing/world/history';
import { labelOf } from './labels.ts';

/** The most waits, and the most stubs, that one report lists. */
const linesMax = 5;

/** Reports why orders do not come to rest: what each one waits for, until when, and which stub would end the wait. */
export function restlessLines(open: readonly Tracked[], history: History): readonly string[] {
  const waits = open.map((order) => `${labelOf(order.orderId, history)}order: ${waitOf(order)}`);
  const stubs = [...new Set(open.flatMap(stubsFor))];
  return [
    ...waits.slice(0, linesMax),
    ...(stubs.length > 0 ? ['To end the wait, pass one of these in `stubs`:'] : []),
    ...stubs.slice(0, linesMax).map((stub) => `  ${stub}`),
  ];
}

const waitOf = ({ program, instance, state }: Tracked): string =>
  program ? explain(program, instance.state) : `It is ${state.processState}, and its workflow is unknown.`;

/** Returns the stubs that would let the open activities of an order continue. */
function stubsFor({ program, instance }: Tracked): readonly string[] {
  if (!program) return [];
  const { activities, blocked } = instance.state;
  return Object.keys(activities).flatMap((path) => {
    const node = nodeAt(program, path);
    if (node.activity === 'waitFor') return [`given(…).comes(payload, { afterSeconds: 60 }), for the wait for the signal ${node.signal}`];
    if (blocked?.path === path && isQuestion(blocked.fault))
      return [`given(…).answers(answer, { afterSeconds: 60 }), for the question at ${path}`];
    if (node.activity === 'call') return [`given(${workflowIn(node.operation)}).answers(output), in place of the called workflow`];
    if (!isRemote(node)) return [];
    return [`given(${node.agent}.${node.operation}).answers(output), or .failsForNow(1) in place of a failure without an end`];
  });
}

/** Returns the name of a called workflow without its version. */
const workflowIn = (operation: string): string => operation.replace(/@\d+$/, '');
