import type { Fault } from '#core/data/fault';
import { firstGenerationOf, idempotencyKeyOf, jitterOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { KeptSignal } from '#core/data/state';
import type { Template } from '#core/definition/definition';
import { rootPath } from '#core/definition/definition';
import { fill, parentOf, relocated, scopeOf } from '#core/definition/program';
import type { Context, Known } from './behavior.ts';
import type { Draft } from './transition-builder.ts';

/** What a behavior may know, looked up when it asks: most ask for little, and this is made for every activity that anything happens to. */
export class ActivityContext implements Context {
  readonly path: string;
  private readonly draft: Draft;
  /** Where expressions are evaluated: of a loop that looks at a turn, in that turn. */
  private readonly reader: string;

  constructor(draft: Draft, path: string, reader = path) {
    this.draft = draft;
    this.path = path;
    this.reader = reader;
  }

  get at(): number {
    return this.draft.event.at;
  }

  get portion(): number {
    return this.draft.portion;
  }

  get epoch(): number {
    return this.draft.event.epoch;
  }

  get stepMs(): number {
    return this.draft.state.stepMs;
  }

  get endBy(): number | undefined {
    return this.draft.state.endBy;
  }

  get firstGeneration(): number {
    return firstGenerationOf(this.draft.subject);
  }

  get known(): Known | undefined {
    return this.draft.state.known?.[this.path];
  }

  get caught(): Fault | undefined {
    const handler = this.draft.handlerAround(this.path);
    const at = handler === undefined ? undefined : parentOf(handler);
    return at === undefined ? undefined : this.draft.activity(at)?.fault;
  }

  get turn(): number | undefined {
    const [, turn] = /^\[(\d+)\]\//.exec(this.reader.slice(this.path.length)) ?? [];
    return turn === undefined ? undefined : Number(turn);
  }

  get answer(): Json | undefined {
    const { event } = this.draft;
    return event.type === 'resubmitted' ? event.answer : undefined;
  }

  get jitter(): Context['jitter'] {
    return (generation) => jitterOf(idempotencyKeyOf(this.draft.subject.orderId, this.path, generation));
  }

  get evaluate(): Context['evaluate'] {
    const { program, subject, state } = this.draft;
    return (template: Template) => fill(template, scopeOf(program, subject, state, this.reader));
  }

  get signalKept(): Context['signalKept'] {
    return (name): KeptSignal | undefined => this.draft.state.signals?.find((signal) => signal.name === name);
  }

  /** A composite by its name; or the one whose handler is at work around the activity. */
  get scopePath(): Context['scopePath'] {
    return (name) => {
      const { program } = this.draft;
      if (name !== undefined) {
        const [found] = [...program.nodes].filter(([, node]) => node.name === name);
        return found ? relocated(found[0], this.path) : rootPath;
      }
      const handler = this.draft.handlerAround(this.path);
      return (handler === undefined ? undefined : parentOf(handler)) ?? rootPath;
    };
  }
}
