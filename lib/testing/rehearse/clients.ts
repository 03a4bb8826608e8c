import type { EventContent } from '#core/data/event';
import { isQuestion } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import { nodeAt } from '#core/definition/program';
import type { Answers } from './answers.ts';
import type { Player } from './player.ts';
import type { RehearsedWait } from './rehearse.ts';

/** An expected signal, or an expected answer of a person. */
export interface Coming {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly player: Player;
  /** Its name in `story()`: `signal visa`. */
  readonly operation: string;
  readonly happening: EventContent;
}

interface Wait {
  readonly path: string;
  readonly operation: string;
  readonly schema: JsonObject | undefined;
  readonly arrives: (value: Json) => EventContent;
}

/** The senders of signals and answers. They send as soon as an order waits. */
export class Outside {
  readonly waits: RehearsedWait[] = [];
  private readonly answers: Answers;
  private readonly since: number;
  private readonly open = new Map<Player, ReadonlyMap<string, Coming | undefined>>();

  constructor(answers: Answers, since: number) {
    this.answers = answers;
    this.since = since;
  }

  /** Compares what the order waits for with what it waited for last time: new waits get an answer, ended ones lose theirs. */
  look(player: Player, now: number): void {
    const before = this.open.get(player);
    const waits = waitsOf(player).map((wait) => {
      const known = before?.has(wait.path) ? before.get(wait.path) : this.begun(player, wait, now);
      return [wait.path, known] as const;
    });
    this.open.set(player, new Map(waits));
  }

  first(): Coming | undefined {
    const all = [...this.open.values()].flatMap((waits) => [...waits.values()]);
    return all.reduce<Coming | undefined>((first, each) => (each && (!first || each.at < first.at) ? each : first), undefined);
  }

  /** Returns which order waits, and for which signal: `waits for the signal visa`. */
  stillWaits(): string | undefined {
    for (const player of this.open.keys())
      for (const { operation } of waitsOf(player)) if (operation.startsWith('signal')) return `${player.label}waits for the ${operation}`;
    return undefined;
  }

  private begun(player: Player, { path, operation, schema, arrives }: Wait, now: number): Coming | undefined {
    const at = `${player.prefix}${path}`;
    this.waits.push({ path: at, operation, at: now - this.since });
    const coming = this.answers.fromOutside({ operation, path: at, purpose: 'do' }, schema);
    return coming && { at: now + coming.afterMs, player, operation, happening: arrives(coming.value) };
  }
}

function waitsOf({ program, state }: Player): readonly Wait[] {
  const signals = Object.entries(state.activities).flatMap(([path, { status, local }]): readonly Wait[] => {
    const node = nodeAt(program, path);
    if (node.activity !== 'waitFor' || status !== 'Executing' || local === undefined) return [];
    const { signal, payload } = node;
    return [
      { path, operation: `signal ${signal}`, schema: payload, arrives: (value) => ({ type: 'signaled', name: signal, payload: value }) },
    ];
  });
  if (!state.blocked || !isQuestion(state.blocked.fault)) return signals;
  const { path } = state.blocked;
  const node = nodeAt(program, path);
  const schema = node.activity === 'askOperator' ? node.answer : undefined;
  return [...signals, { path, operation: `question ${node.name}`, schema, arrives: (answer) => ({ type: 'resubmitted', answer }) }];
}
