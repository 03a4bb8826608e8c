import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { check } from 'redress';
import { given, instruct, rehearse } from 'redress/testing';
import { importApp } from '#runtime/app-module';
import { carrier, OutOfStock, warehouse } from '../../examples/people/agents.ts';
import app from '../../examples/people/app.ts';
import { claimCase1, claimCase2, papers } from '../../examples/people/workflow.ts';

const sample = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../examples/people/samples/${name}.json`, import.meta.url), 'utf8')).order;
const assessed = instruct({ kind: 'resubmit', answer: { total: 1500 } }, { atSeconds: 60 });
const arrives = given(papers).comes({ pages: 2 });

describe('a claim, rehearsed', () => {
  for (const [version, workflow] of [claimCase1, claimCase2].entries())
    test(`F-14: version ${version + 1} of the workflow asks the group, waits for the papers, ships, and ends with an output`, () => {
      const run = rehearse(workflow, sample('ok'), arrives, assessed);
      assert.equal(run.outcome, 'completed', run.story());
      assert.partialDeepStrictEqual(run.output, { shipmentId: 'shipmentId', total: 1500 });
    });

  test('version 2 of the workflow tells the customer after the shipment, not in parallel with it', () => {
    const slow = given(carrier.ship).takes(5);
    const story = (workflow: typeof claimCase1) => rehearse(workflow, sample('ok'), arrives, assessed, slow).story();
    assert.match(story(claimCase1), /customer\.tell ok, carrier\.ship ok/);
    assert.match(story(claimCase2), /carrier\.ship ok, customer\.tell ok/);
  });

  test('without stock, an operator decides', () => {
    const run = rehearse(claimCase1, sample('out-of-stock'), given(warehouse.reserve).faults(OutOfStock));
    assert.equal(run.outcome, 'blocked', run.story());
  });
});

test('the app has no problems, and is found by the name of its folder', async () => {
  for (const workflow of app.workflows) assert.deepEqual(check(workflow), []);
  const found = await importApp('examples/people');
  assert.deepEqual(
    found.workflows.map(({ version }) => version),
    [1, 2],
  );
});
