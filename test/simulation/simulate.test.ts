import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { faultKinds, otherFaults } from './faults.ts';
import { hits, type Summary, simulate } from './simulate.ts';
import { World } from './world.ts';

/** As many as fit into some ten seconds; `npm run simulate` takes as many as there is time for. */
const seeds = { first: 1, runs: 150 };

/** Only a few worlds have them at all: `npm run verify -- G6` plays enough of those. */
const tooRare: ReadonlySet<string> = new Set(['index never', 'publisher gone for a day', 'client queue gone', 'record damaged']);

describe('orders among crashes, lost messages and services that fail', () => {
  let summary: Summary;
  before(async () => {
    summary = await simulate(seeds.first, seeds.runs);
  });

  test('G1: every order comes to its end or before a person, and no law is broken on the way', () => {
    assert.deepEqual(
      summary.broken.map(({ wrong, again }) => ({ wrong: wrong[0], again })),
      [],
    );
  });

  test('G6: every kind of fault has really hit, save those that few worlds have at all', () => {
    const rare = [...faultKinds, ...otherFaults].filter((kind) => hits(summary, (cell) => cell.kind === kind) === 0);
    assert.deepEqual(
      rare.filter((kind) => !tooRare.has(kind)),
      [],
    );
  });

  test('hosts crash before, after and in the middle of what they write and send', () => {
    const positions = ['crash before', 'crash applied', 'crash after'] as const;
    const sites = ['store.create', 'store.update', 'store.patch', 'queues.send'];
    const missing = positions.flatMap((kind) =>
      sites.filter((site) => hits(summary, (cell) => cell.kind === kind && cell.site === site) === 0).map((site) => `${kind} ${site}`),
    );
    assert.deepEqual(missing, []);
  });

  test('orders are really completed, compensated, canceled, reset, sent into Error, called and signaled', () => {
    const { happened } = summary;
    const least = {
      'outcome completed': 300,
      'outcome compensated': 50,
      'outcome canceled': 20,
      'outcome rejected': 5,
      calls: 60,
      signals: 15,
      errors: 40,
      DeadlineExpired: 150,
      OrderReset: 20,
      UndoFailed: 50,
      CancelRequested: 60,
      LateResult: 20,
      RunFailed: 20,
      'steps with another input': 1,
      'worlds with the figures that are deployed': 60,
      'emitted message days late': 10,
      'emitted stricter schema': 8,
      'emitted later request refused by a stricter schema': 8,
      'worlds with the limits of DynamoDB': 1,
      'a write is too large': 1,
      'worlds in which orders are forgotten': 1,
      'seen forgotten': 2,
    };
    assert.deepEqual(
      Object.entries(least).filter(([what, count]) => (happened[what] ?? 0) < count),
      [],
    );
  });
});

test('G3, S21: the same seed gives exactly the same run, and another seed another one', async () => {
  const fingerprints = async (first: number) => {
    const { fingerprint, happened, landed } = await new World(first).run();
    return JSON.stringify([fingerprint, [...happened], [...landed]]);
  };
  for (const seed of [1, 2, 3, 4, 5]) assert.equal(await fingerprints(seed), await fingerprints(seed));
  assert.notEqual(await fingerprints(1), await fingerprints(2));
});
