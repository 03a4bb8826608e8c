import type { Workflow } from 'redress';
import { agentDefinitionOf } from '#authoring/agent';
import { queues } from '#ports/messages';
import { CrashPoints } from '#testing/crash-test/enumerate';
import { withCalled } from '#testing/crash-test/index';
import type { Scenario } from '#testing/crash-test/scenario';
import { ruleOf, type When, when } from '#testing/rehearse/stubs';
import { agents, bank, CardDeclined, carrier, hotel, ledger, OutOfStock, stock } from './agents.ts';
import * as workflows from './workflows.ts';

interface Variation extends Partial<Omit<Scenario, 'rules'>> {
  readonly whens?: readonly When[];
  /** Other ends that are right as well: what of two comes first is a matter of time. */
  readonly mayEndAs?: readonly string[];
}

export interface Definition {
  readonly scenario: Scenario;
  readonly mayEndAs: readonly string[];
}

const defined = (workflow: Workflow<never>, { whens = [], mayEndAs = [], ...more }: Variation = {}): Definition => ({
  mayEndAs,
  scenario: {
    // What is judged at once is counted nowhere: so one channel counts.
    app: { workflows: withCalled(workflow), agents: agents.map(agentDefinitionOf), channels: { stock: { judge: 'count' } } },
    order: { item: 'tea' },
    rules: whens.map(ruleOf),
    real: new Set(),
    variables: {},
    sendsAlong: false,
    downMs: 1000,
    submittedBy: 'call',
    ...more,
  },
});

const declined = when(bank.charge).faults(CardDeclined);
const bulky = when(stock.reserve).answers({ id: 'x'.repeat(400) });

/** What dies at each of its calls: all activities, and all that befalls them. */
export const definitions: { readonly [name: string]: Definition } = {
  one: defined(workflows.one),
  undone: defined(workflows.undone, { whens: [declined] }),
  timed: defined(workflows.timed),
  signal: defined(workflows.approval, { whens: [when(workflows.signal).comes({ by: 'somebody' }, { afterSeconds: 20 })] }),
  'in turn': defined(workflows.inTurn, { whens: [when(workflows.signal).comes({ by: 'somebody' }, { afterSeconds: 20 })] }),
  'no signal': defined(workflows.approval),
  'claimed later': defined(workflows.undone, { variables: { CLAIM_ON_SUBMIT: 'off', ANNOUNCE_PROCESSED: 'on' } }),
  sale: defined(workflows.sale, { whens: [when(bank.charge).failsForNow(1)] }),
  pair: defined(workflows.pair, { whens: [declined] }),
  exhausted: defined(workflows.pair, { whens: [when(bank.charge).isSilent(2)], variables: { MAX_FAILURES: '1' } }),
  reset: defined(workflows.lines, {
    order: { items: ['tea', 'cup', 'pot'] },
    whens: [when(stock.reserve).isSilent().nth(2), when(stock.reserve).faults(OutOfStock).at('order[2]/reserve')],
  }),
  trip: defined(workflows.trip, { whens: [declined] }),
  journey: defined(workflows.journey, { whens: [declined] }),
  'call refused': defined(workflows.trip, { whens: [when(workflows.stay).isNotCompleted()] }),
  asking: defined(workflows.asking, { whens: [when(workflows.right).answers({ yes: true }, { afterSeconds: 30 })] }),
  entry: defined(workflows.entry, { whens: [when(ledger.enter).failsForNow(1), declined] }),
  letter: defined(workflows.letter, { whens: [declined] }),
  renewal: defined(workflows.renewal, { whens: [when(bank.charge).faults(CardDeclined).nth(2)] }),
  'raised again': defined(workflows.raisedAgain, { whens: [declined] }),
  hurried: defined(workflows.hurried),
  'held for good': defined(workflows.undone, { whens: [when(stock.reserve).isSilent()], variables: { MAX_FAILURES: '1' } }),
  unknown: defined(workflows.undone, { whens: [when(bank.charge).leavesUnknown()] }),
  long: defined(workflows.long, { whens: [when(carrier.ship).isSilent().once()] }),
  'undo fails': defined(workflows.undone, { whens: [declined, when(stock.release).failsForNow(2)] }),
  canceled: defined(workflows.long, { whens: [when(carrier.ship).isSilent().once()], cancelAfterMs: 20_000, mayEndAs: ['completed'] }),
  'call canceled': defined(workflows.trip, { whens: [when(hotel.book).isSilent(1)], cancelAfterMs: 5000, mayEndAs: ['completed'] }),
  whole: defined(workflows.whole, { whens: [declined] }),
  stopped: defined(workflows.stopped),
  heavy: defined(workflows.heavy, { whens: [bulky, declined] }),
  posted: defined(workflows.undone, {
    submittedBy: 'message',
    poison: [
      { queue: queues.submissions, body: 'nonsense' },
      { queue: queues.replies('stock'), body: '{"v":1,"type":"nonsense"}' },
    ],
  }),
  forgotten: defined(workflows.one, { variables: { RETENTION_DAYS: '1' } }),
};

/** The smallest, which die twice in one run. */
export const smallest = ['one', 'timed', 'stopped'] as const;

export const crashPointsOf = ({ scenario, mayEndAs }: Definition, sendsAlong: boolean): Promise<CrashPoints> =>
  CrashPoints.of({ ...scenario, sendsAlong }, { mayEndAs: new Set(mayEndAs), mayAskPerson: true, check: () => {}, beforeEach: () => {} });
