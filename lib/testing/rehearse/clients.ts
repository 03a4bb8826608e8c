import type { EventContent } from '#core/data/event';
import { isQuestion } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import { nodeAt } from '#core/definition/program';
import type { Answers } from './answers.ts';
import type { Player } from './player.ts';
import type { RehearsedWait } from './rehearse.ts';

/** Something that will come from outside: a signal, or a person's answer. */
export interface Coming {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly player: Player;
  /** What it is, as the story tells it: `signal visa`. */
  readonly operation: string;
  readonly happening: EventContent;
}

interface Wait {
  readonly path: string;
  readonly operation: string;
  readonly schema: JsonObject | undefined;
  readonly arrives: (value: Json) => EventContent;
}

/** Those who send signals and answer questions, as soon as an order waits for that. */
export class Outside {
  readonly waits: RehearsedWait[] = [];
  private readonly answers: Answers;
  private readonly since: number;
  private readonly open = new Map<Player, ReadonlyMap<string, Coming | undefined>>();

  constructor(answers: Answers, since: number) {
    this.answers = answers;
    this.since = since;
  }

  /** What the order waits for now: what is new is asked for, and nothing comes to what waits no longer. */
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

  /** Who still waits, and for what: `waits for the signal visa`. */
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
