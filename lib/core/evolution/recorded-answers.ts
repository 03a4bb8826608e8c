import type { EventContent, StepReply } from '#core/data/event';
import { engineFaults } from '#core/data/fault';
import { definitionPath, isUndoPath, stepOfRequest, stepOfUndo } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import type { Program } from '#core/definition/program';

/** The answer to a recorded request. `silence`: no answer came before the order blocked. */
export type RecordedAnswer = StepReply | 'silence';

/** The answers and signals that an order got. */
export interface Recording {
  /** The program under which it was recorded. */
  readonly program: Program;
  /** The answers by the path of the step, each list in the order of its requests. */
  readonly answers: ReadonlyMap<string, readonly RecordedAnswer[]>;
  readonly signals: readonly { readonly name: string; readonly payload: Json }[];
}

/**
 * A line of a journal: a fact with the event from which it comes, unless the fact tells the event. `further`: later events without a fact.
 */
export type RecordedLine = { readonly type: string; readonly event?: EventContent; readonly further?: readonly EventContent[] };

/** Returns the answers and signals that an order got, from the lines of its journal, oldest first. */
export function recordingOf(orderId: string, program: Program, lines: readonly RecordedLine[]): Recording {
  const open = new Map<string, string>();
  const answers = new Map<string, RecordedAnswer[]>();
  const signals: { name: string; payload: Json }[] = [];
  const add = (path: string, answer: RecordedAnswer): void => {
    // An event and its fact may tell the same answer: each request counts once.
    if (!open.delete(path)) return;
    answers.set(path, [...(answers.get(path) ?? []), answer]);
  };
  for (const line of lines as readonly (RecordedLine & CoreFact)[]) {
    for (const event of [...(line.event ? [line.event] : []), ...(line.further ?? [])]) {
      if (event.type === 'signaled') signals.push({ name: event.name, payload: event.payload });
      if (event.type !== 'replied') continue;
      const path = stepOfRequest(orderId, event.requestId);
      if (path !== undefined) add(path, event.reply);
    }
    const told = toldBy(line);
    if (told) add(told.path, told.answer);
    if (line.type === 'StepRequested') open.set(line.path, line.attemptId);
  }
  return { program, answers, signals };
}

/** Returns the answer that a fact tells. */
function toldBy(fact: CoreFact): { readonly path: string; readonly answer: RecordedAnswer } | undefined {
  switch (fact.type) {
    case 'ActivityClosed':
      if (fact.result === 'Succeeded' && fact.attemptId !== undefined)
        return { path: fact.path, answer: { status: 'succeeded', output: fact.output ?? {} } };
      return fact.result === 'Compensated' ? { path: fact.path, answer: { status: 'succeeded', output: {} } } : undefined;
    case 'AttemptFailed':
    case 'FaultRaised':
      return { path: fact.path, answer: { status: 'failed', fault: fact.fault } };
    case 'UndoFailed':
      return fact.fault && { path: fact.path, answer: { status: 'failed', fault: fact.fault } };
    case 'OrderBlocked':
      return isLate(fact.fault.type) ? { path: fact.path, answer: 'silence' } : undefined;
    default:
      return undefined;
  }
}

const isLate = (type: string): boolean => type === engineFaults.deadlineExceeded || type === engineFaults.serviceUnavailable;

/** Hands out recorded answers, although the steps may have other paths in another definition. */
export class RecordedAnswers {
  private readonly left = new Map<string, RecordedAnswer[]>();
  /** The last answer that each step got. */
  private readonly last = new Map<string, RecordedAnswer>();
  private readonly byName = new Map<string, string[]>();
  private readonly recording: Recording;
  private readonly program: Program;

  constructor(recording: Recording, program: Program) {
    this.recording = recording;
    this.program = program;
    for (const [path, answers] of recording.answers) {
      this.left.set(path, [...answers]);
      const name = nameAt(recording.program, path);
      if (name !== undefined) this.byName.set(name, [...(this.byName.get(name) ?? []), path]);
    }
  }

  /**
   * Returns the next answer for a step; after the last answer, the last answer again if it was a success. `new`: the recording has no
   * request of the step. `none`: no answer is left, and the last answer was not a success.
   */
  next(path: string): RecordedAnswer | 'new' | 'none' {
    const recorded = this.recordedPath(path);
    if (recorded === undefined) return 'new';
    const answer = this.left.get(recorded)?.shift();
    if (answer !== undefined) {
      this.last.set(recorded, answer);
      return answer;
    }
    const last = this.last.get(recorded);
    return typeof last === 'object' && last.status === 'succeeded' ? last : 'none';
  }

  /** Returns where the recording has the step: at its path, or at the one path of a step with its name, operation and turns. */
  private recordedPath(path: string): string | undefined {
    const name = nameAt(this.program, path);
    if (this.left.has(path) && nameAt(this.recording.program, path) === name) return path;
    const alike = name === undefined ? [] : (this.byName.get(name) ?? []);
    return alike.length === 1 ? alike[0] : undefined;
  }
}

/** Returns the name that a step has in every version: its name, its operation, its turns of loops, and whether it is an undo. */
function nameAt({ nodes }: Program, path: string): string | undefined {
  const isUndo = isUndoPath(path);
  const node = nodes.get(definitionPath(stepOfUndo(path)));
  if (!node) return undefined;
  const operation = isRemote(node) ? `${node.agent}.${node.operation}` : '';
  return [node.name, operation, isUndo ? 'undo' : '', ...(path.match(/\[\d+\]/g) ?? [])].join(' ');
}
