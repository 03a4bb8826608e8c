import { stepOf } from '#core/activities/index';
import { advance, type Subject } from '#core/advance';
import type { Command, RequestCommand } from '#core/data/command';
import type { Event, EventContent, StepReply } from '#core/data/event';
import { isQuestion, shortType } from '#core/data/fault';
import { isUndoPath, requestIdOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import { initialState, type State } from '#core/data/state';
import type { Catalog } from '#core/definition/catalog';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program, stepAt, wakeAtOf } from '#core/definition/program';
import { sampleOfJson } from '#core/definition/sample';
import { RecordedAnswers, type Recording } from './recorded-answers.ts';

/** The course that an order would have taken under another definition. */
export interface WhatIf {
  /**
   * `alone`: the order ends without a person. `assumed`: the same, if requests succeed that the history does not have. `person`: a person
   * is needed.
   */
  readonly ends: 'alone' | 'assumed' | 'person';
  /** A sentence about why a person is needed. `path`: the activity that the sentence is about. */
  readonly why?: string;
  readonly path?: string;
}

/** The order that is played, and the program of the other definition. */
interface Played {
  readonly program: Program;
  readonly subject: Subject;
  readonly catalog: Catalog;
  readonly stepMs: number;
}

/** The most events that are played. An order that is not closed by then counts as one that never ends. */
const eventsMax = 20_000;

/**
 * Plays an order on a definition with the answers of its own history: each request of a step gets the next answer that the step got then.
 * Waiting takes no time. Pure.
 */
export function whatIf(played: Played, recording: Recording): WhatIf {
  return new Play(played, recording).run();
}

const person = (why: string, path?: string): WhatIf => ({ ends: 'person', why, ...(path === undefined ? {} : { path }) });

class Play {
  private state: State = initialState;
  private now = 0;
  private events = 0;
  private isAssumed = false;
  private readonly requests: RequestCommand[] = [];
  private readonly answers: RecordedAnswers;
  private readonly signals: { readonly name: string; readonly payload: Json }[];
  private readonly played: Played;

  constructor(played: Played, recording: Recording) {
    this.played = played;
    this.answers = new RecordedAnswers(recording, played.program);
    this.signals = [...recording.signals];
  }

  run(): WhatIf {
    this.happen({ type: 'started', stepMs: this.played.stepMs });
    for (;;) {
      const { phase, blocked } = this.state;
      if (phase === 'closed') return { ends: this.isAssumed ? 'assumed' : 'alone' };
      if (blocked)
        return person(isQuestion(blocked.fault) ? 'It asks a person.' : `${shortType(blocked.fault.type)} blocks it.`, blocked.path);
      if (this.events > eventsMax) return person('It does not end.');
      const request = this.requests.shift();
      const stopped = request ? this.answer(request) : this.passTime();
      if (stopped) return stopped;
    }
  }

  private happen(content: EventContent): void {
    this.events++;
    const { program, subject } = this.played;
    const { state, commands } = advance(program, subject, this.state, { ...content, at: this.now, epoch: 1 } as Event);
    this.state = state;
    this.requests.push(...commands.filter(isRequest));
  }

  /** Answers a request, unless the order no longer waits for it. */
  private answer({ path, requestId, agent, operation, confirming }: RequestCommand): WhatIf | undefined {
    const { program, subject } = this.played;
    const local = stepAt(program, this.state, path);
    if (local?.phase !== 'requested' && local?.phase !== 'undoing') return undefined;
    if (requestIdOf(subject.orderId, path, local) !== requestId) return undefined;
    if (confirming) return person('The history does not tell whether the request had an effect.', path);
    const found = this.answers.next(path);
    if (found === 'none') return person('The history has no recorded answer for this request of the changed workflow.', path);
    if (found === 'silence') return person('No answer came.', path);
    this.isAssumed ||= found === 'new';
    const reply = found === 'new' ? this.assumed(path, agent, operation) : found;
    this.happen({ type: 'replied', requestId, sentAt: this.now, reply });
    return undefined;
  }

  private assumed(path: string, agent: string, operation: string): StepReply {
    const output = isUndoPath(path) ? undefined : this.played.catalog.schemasOf(agent, operation)?.output;
    return { status: 'succeeded', output: output ? sampleOfJson(output, operation) : {} };
  }

  /** Hands the order the next signal of the recording; if none is left, goes to the next time at which the order does something. */
  private passTime(): WhatIf | undefined {
    const signal = this.signals.shift();
    if (signal) {
      this.happen({ type: 'signaled', ...signal });
      return undefined;
    }
    const { program } = this.played;
    const before = this.state;
    const due = Object.entries(before.activities).flatMap(([path, activity]): readonly { at: number; event: EventContent }[] => {
      const node = nodeAt(program, path);
      const step = stepOf(node, activity);
      if (isRemote(node) && step?.phase === 'failedForNow') return [{ at: step.completeBy, event: { type: 'expired' } }];
      const at = wakeAtOf(program, path, activity);
      return at === undefined ? [] : [{ at, event: { type: 'woken' } }];
    });
    const next = due.toSorted((one, other) => one.at - other.at)[0];
    if (!next) return person('It waits for something that never came.', Object.keys(before.activities).at(-1));
    this.now = Math.max(this.now, next.at);
    this.happen(next.event);
    return this.state === before ? person('It waits for something that never came.') : undefined;
  }
}

const isRequest = (command: Command): command is RequestCommand => command.type === 'request';
