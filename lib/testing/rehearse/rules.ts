import type { EventContent } from '#core/data/event';
import { isQuestion } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { Blocked } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, scopeOf } from '#core/definition/program';
import type { Judged } from '#core/instructions/kind';
import { pastOf } from '#core/instructions/past';
import { ruledRecovery } from '#core/instructions/recover';
import { decide } from '#core/rules/decide';
import { ruleFailed } from '#core/rules/faults';
import type { RuleMemory } from '#core/rules/memory';
import type { Rule } from '#core/rules/rule';
import { compileRules, type RuleSet } from '#core/rules/rule-set';
import type { Decision, Situation } from '#core/rules/situation';
import { timeText } from '#ports/messages';
import { exceptionFor } from '#roles/exceptions/causes';
import { judgedOf } from '#roles/operator/feasibility';
import type { Player } from './player.ts';

/** The action of a rule about an exception in a rehearsal. */
export interface Ruled {
  /** `rule again retry` */
  readonly text: string;
  readonly happenings: readonly EventContent[];
}

/** The rules of a rehearsal, asked about exceptions as the scheduler asks them. A rule that needs a person or another order leaves the order blocked. */
export class RehearsedRules {
  private readonly set: RuleSet;
  private readonly known = new Map<Player, { memory: RuleMemory; seq: number; round: number; asked?: Blocked }>();

  constructor(rules: readonly Rule[]) {
    this.set = compileRules(rules);
  }

  /** Asks the rules about the exception that has blocked an order; undefined if there is none, or if no rule acts. */
  about(player: Player, facts: readonly CoreFact[], now: number): Ruled | undefined {
    const { blocked } = player.state;
    const before = this.known.get(player) ?? { memory: {}, seq: 0, round: 0 };
    if (!blocked || blocked === before.asked || isQuestion(blocked.fault)) return undefined;
    const seq = before.seq + 1;
    const decided = decide(this.set, situationOf(player, { blocked, facts, seq, round: before.round, now }), before.memory);
    const main = decided.decisions.find(({ mode, action }) => mode === 'enforce' && action.kind !== 'announce');
    const round = main?.action.kind === 'raise' ? main.action.round : 0;
    this.known.set(player, { memory: decided.memory, seq, round, asked: blocked });
    const happenings = main ? happeningsOf(main, player, { blocked, facts, now }) : [];
    return main && happenings.length > 0 ? { text: `rule ${main.ruleId} ${main.action.kind}`, happenings } : undefined;
  }
}

interface Happened {
  readonly blocked: Blocked;
  readonly facts: readonly CoreFact[];
  readonly now: number;
}

interface Stopped extends Happened {
  readonly seq: number;
  readonly round: number;
}

function situationOf({ program, state, orderId, subject }: Player, { blocked, facts, seq, round, now }: Stopped): Situation {
  const { name, version } = program.definition;
  const { fault, path } = blocked;
  const workflow = { name, version };
  const condition = { processState: 'Error', status: null } as const;
  const cause = { name: '', fault: { ...fault, source: fault.source ?? path }, before: condition, after: condition };
  const attempt = facts.filter((fact) => fact.type === 'StepRequested' && fact.path === path).length;
  const {
    seq: _,
    submittedAt: __,
    handling: ___,
    taskId: ____,
    ...exception
  } = exceptionFor({ orderId, submittedAt: now, workflow }, { ...cause, attempt }, seq, now);
  const node = nodeAt(program, path);
  const { steps, vars } = scopeOf(program, subject, state, path);
  const outputs = Object.fromEntries(
    facts.flatMap((fact) =>
      fact.type === 'ActivityClosed' && fact.output !== undefined ? [[fact.path.slice(fact.path.lastIndexOf('/') + 1), fact.output]] : [],
    ),
  );
  return {
    orderId,
    workflow,
    event: {
      id: `exc-${seq}`,
      kind: 'exception',
      at: now,
      type: fault.type,
      class: fault.class,
      fingerprint: exception.fingerprint,
      step: definitionPath(path),
      ...(isRemote(node) ? { agent: node.agent } : {}),
      ...(round > 0 ? { round } : {}),
    },
    values: {
      order: subject.order,
      outputs: { ...outputs, ...steps },
      variables: vars ?? {},
      exception: { ...exception, at: timeText(now) } as unknown as Json,
      ...(isRemote(node) ? { step: { path, name: node.name, agent: node.agent, operation: node.operation, attempts: attempt } } : {}),
    },
  };
}

/** Returns the events of a decision; none if the order stays blocked. */
function happeningsOf({ ruleId, version, action }: Decision, player: Player, stopped: Happened): readonly EventContent[] {
  const rule = { id: ruleId, version };
  const { path } = stopped.blocked;
  const failing = (why: string): readonly EventContent[] => [
    { type: 'decided', rule, action: { kind: 'raise', fault: ruleFailed(ruleId, why), toPerson: true } },
  ];
  switch (action.kind) {
    case 'retry':
    case 'suspend':
      return [{ type: 'decided', rule, action }];
    case 'raise':
      return [{ type: 'decided', rule, action: { kind: 'raise', fault: action.fault, toPerson: action.toPerson } }];
    case 'skip':
      return [{ type: 'instructed', instruction: { kind: 'skip', path, output: action.output, effect: 'none' } }];
    case 'replace-input': {
      if (action.path !== path) return failing(`it replaces the input of ${action.path}, but the exception is about ${path}.`);
      return [{ type: 'instructed', instruction: { kind: 'replace-input', path, input: action.input } }];
    }
    case 'compensate':
      return [{ type: 'canceled', outcome: 'compensated' }];
    case 'recover': {
      const recovery = ruledRecovery(judgedIn(player, stopped), action.path);
      return 'event' in recovery ? [recovery.event] : failing(recovery.refusal);
    }
    default:
      return [];
  }
}

/** The blocked order as the check of an instruction sees it. */
function judgedIn({ program, subject, state, orderId }: Player, { facts, now }: Happened): Judged {
  const record = { processState: 'Error', suspended: false, outcome: null } as const;
  const past = pastOf(program, subject, facts);
  const schemas = { of: () => undefined, problems: () => [] };
  return judgedOf({ program, order: { orderId, body: null }, record, instance: { state } }, { schemas, now, past });
}
