import type { Workflow } from 'redress';
import { agentDefinitionOf } from '#authoring/agent';
import { queueNames } from '#ports/messages';
import { CrashPoints } from '#testing/crash-test/enumerate';
import { withCalled } from '#testing/crash-test/index';
import type { Scenario } from '#testing/crash-test/scenario';
import { given, ruleOf, type Stub } from '#testing/rehearse/stubs';
import { agents, bank, CardDeclined, carrier, hotel, ledger, OutOfStock, stock } from './agents.ts';
import * as workflows from './workflows.ts';

interface Variation extends Partial<Omit<Scenario, 'rules'>> {
  readonly stubs?: readonly Stub[];
  /** Other valid outcomes: which of two events comes first depends on timing. */
  readonly mayEndAs?: readonly string[];
}

export interface Definition {
  readonly scenario: Scenario;
  readonly mayEndAs: readonly string[];
}

const defined = (workflow: Workflow<never>, { stubs = [], mayEndAs = [], ...more }: Variation = {}): Definition => ({
  mayEndAs,
  scenario: {
    // Only this channel counts failures: on the other ones, failing messages are judged at once, without a count.
    app: { workflows: withCalled(workflow), agents: agents.map(agentDefinitionOf), channels: { stock: { judge: 'count' } } },
    order: { item: 'tea' },
    rules: stubs.map(ruleOf),
    real: new Set(),
    variables: {},
    writesAndSendsAtomically: false,
    downMs: 1000,
    submittedBy: 'call',
    ...more,
  },
});

const declined = given(bank.charge).faults(CardDeclined);
const bulky = given(stock.reserve).answers({ id: 'x'.repeat(400) });

/** Workflows whose processes crash at each call: all activities, with every kind of event. */
export const definitions: { readonly [name: string]: Definition } = {
  one: defined(workflows.one),
  undone: defined(workflows.undone, { stubs: [declined] }),
  timed: defined(workflows.timed),
  signal: defined(workflows.approval, { stubs: [given(workflows.signal).comes({ by: 'somebody' }, { afterSeconds: 20 })] }),
  'in turn': defined(workflows.inTurn, { stubs: [given(workflows.signal).comes({ by: 'somebody' }, { afterSeconds: 20 })] }),
  'no signal': defined(workflows.approval),
  'claimed later': defined(workflows.undone, { variables: { CLAIM_ON_SUBMIT: 'off', ANNOUNCE_PROCESSED: 'on' } }),
  sale: defined(workflows.sale, { stubs: [given(bank.charge).failsForNow(1)] }),
  pair: defined(workflows.pair, { stubs: [declined] }),
  exhausted: defined(workflows.pair, { stubs: [given(bank.charge).isSilent(2)], variables: { MAX_FAILURES: '1' } }),
  reset: defined(workflows.lines, {
    order: { items: ['tea', 'cup', 'pot'] },
    stubs: [given(stock.reserve).isSilent().nth(2), given(stock.reserve).faults(OutOfStock).at('order[2]/reserve')],
  }),
  trip: defined(workflows.trip, { stubs: [declined] }),
  journey: defined(workflows.journey, { stubs: [declined] }),
  'call refused': defined(workflows.trip, { stubs: [given(workflows.stay).isNotCompleted()] }),
  asking: defined(workflows.asking, { stubs: [given(workflows.right).answers({ yes: true }, { afterSeconds: 30 })] }),
  entry: defined(workflows.entry, { stubs: [given(ledger.enter).failsForNow(1), declined] }),
  letter: defined(workflows.letter, { stubs: [declined] }),
  renewal: defined(workflows.renewal, { stubs: [given(bank.charge).faults(CardDeclined).nth(2)] }),
  'raised again': defined(workflows.raisedAgain, { stubs: [declined] }),
  hurried: defined(workflows.hurried),
  'blocked for good': defined(workflows.undone, { stubs: [given(stock.reserve).isSilent()], variables: { MAX_FAILURES: '1' } }),
  unknown: defined(workflows.undone, { stubs: [given(bank.charge).leavesUnknown()] }),
  long: defined(workflows.long, { stubs: [given(carrier.ship).isSilent().once()] }),
  'undo fails': defined(workflows.undone, { stubs: [declined, given(stock.release).failsForNow(2)] }),
  canceled: defined(workflows.long, { stubs: [given(carrier.ship).isSilent().once()], cancelAfterMs: 20_000, mayEndAs: ['completed'] }),
  'call canceled': defined(workflows.trip, { stubs: [given(hotel.book).isSilent(1)], cancelAfterMs: 5000, mayEndAs: ['completed'] }),
  whole: defined(workflows.whole, { stubs: [declined] }),
  stopped: defined(workflows.stopped),
  heavy: defined(workflows.heavy, { stubs: [bulky, declined] }),
  posted: defined(workflows.undone, {
    submittedBy: 'message',
    poison: [
      { queue: queueNames.submissions, body: 'nonsense' },
      { queue: queueNames.replies('stock'), body: '{"v":1,"type":"nonsense"}' },
    ],
  }),
  forgotten: defined(workflows.one, { variables: { RETENTION_DAYS: '1' } }),
};

/** The smallest definitions, which crash twice in one run. */
export const smallest = ['one', 'timed', 'stopped'] as const;

export const crashPointsOf = ({ scenario, mayEndAs }: Definition, writesAndSendsAtomically: boolean): Promise<CrashPoints> =>
  CrashPoints.of(
    { ...scenario, writesAndSendsAtomically },
    { mayEndAs: new Set(mayEndAs), mayBlock: true, check: () => {}, beforeEach: () => {} },
  );
