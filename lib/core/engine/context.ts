import type { Fault } from '#core/data/fault';
import { firstGenerationOf, idempotencyKeyOf, jitterOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { KeptSignal } from '#core/data/state';
import type { StepMemo } from '#core/data/step-state';
import type { Template } from '#core/definition/definition';
import { rootPath } from '#core/definition/definition';
import { fill, parentOf, relocated, scopeOf } from '#core/definition/program';
import type { Context } from './behavior.ts';
import { handlerAround } from './fault-routing.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/**
 * The context of a behavior, computed on access. It is created for every activity of every event, and most behaviors
 * read little of it.
 */
export class ActivityContext implements Context {
  readonly path: string;
  private readonly builder: TransitionBuilder;
  /** The path at which expressions are evaluated. A loop that has closed a turn evaluates in that turn. */
  private readonly reader: string;

  constructor(builder: TransitionBuilder, path: string, reader = path) {
    this.builder = builder;
    this.path = path;
    this.reader = reader;
  }

  get at(): number {
    return this.builder.event.at;
  }

  get portion(): number {
    return this.builder.portion;
  }

  get epoch(): number {
    return this.builder.event.epoch;
  }

  get stepMs(): number {
    return this.builder.state.stepMs;
  }

  get endBy(): number | undefined {
    return this.builder.state.endBy;
  }

  get firstGeneration(): number {
    return firstGenerationOf(this.builder.subject);
  }

  get input(): Json | undefined {
    return this.builder.state.inputs?.[this.path];
  }

  get memo(): StepMemo | undefined {
    return this.builder.state.memos?.[this.path];
  }

  get caught(): Fault | undefined {
    const handler = handlerAround(this.builder, this.path);
    const at = handler === undefined ? undefined : parentOf(handler);
    return at === undefined ? undefined : this.builder.activity(at)?.fault;
  }

  get turn(): number | undefined {
    const [, turn] = /^\[(\d+)\]\//.exec(this.reader.slice(this.path.length)) ?? [];
    return turn === undefined ? undefined : Number(turn);
  }

  get answer(): Json | undefined {
    const { event } = this.builder;
    return event.type === 'resubmitted' ? event.answer : undefined;
  }

  get jitter(): Context['jitter'] {
    return (generation) => jitterOf(idempotencyKeyOf(this.builder.subject.orderId, this.path, generation));
  }

  get evaluate(): Context['evaluate'] {
    const { program, subject, state } = this.builder;
    return (template: Template) => fill(template, scopeOf(program, subject, state, this.reader));
  }

  get evaluateWith(): Context['evaluateWith'] {
    const { program, subject, state } = this.builder;
    return (template, output) => {
      const scope = scopeOf(program, subject, state, this.reader);
      return fill(template, { ...scope, steps: { ...scope.steps, [this.builder.node(this.path).name]: output } });
    };
  }

  get signalKept(): Context['signalKept'] {
    return (name): KeptSignal | undefined => this.builder.state.signals?.find((signal) => signal.name === name);
  }

  /** Returns the path of a composite by its name, or of the one whose handler encloses the activity. */
  get scopePath(): Context['scopePath'] {
    return (name) => {
      const { program } = this.builder;
      if (name !== undefined) {
        const [found] = [...program.nodes].filter(([, node]) => node.name === name);
        return found ? relocated(found[0], this.path) : rootPath;
      }
      const handler = handlerAround(this.builder, this.path);
      return (handler === undefined ? undefined : parentOf(handler)) ?? rootPath;
    };
  }
}
