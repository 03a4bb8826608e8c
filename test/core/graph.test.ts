import assert from 'node:assert/strict';
import { test } from 'node:test';
import { behaviors } from '#core/activities/index';
import type { Activity } from '#core/definition/definition';
import { mermaidOf } from '#core/views/mermaid';
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { delay, parallel, sequence, step, workflow } from '../support/workflows.ts';

test('a workflow is drawn with its undos and its handlers', () => {
  assert.equal(
    mermaidOf(fulfilOrder),
    `\
flowchart TD
  n1(["fulfil-order@1"])
  subgraph f2 ["order"]
    n3["reserve<br/>inventory.reserve"]
    n4("inventory.release")
    n3 -.-|"undo"| n4
    subgraph f5 ["again 3 times at most, every 20 s, not after CardDeclined"]
      n6["charge<br/>payment.charge"]
      n7("payment.refund")
      n6 -.-|"undo"| n7
    end
    n8["ship<br/>shipping.ship"]
    n9("shipping.recall")
    n8 -.-|"undo"| n9
    n10["confirm<br/>customer.notify"]
    n11("output: chargeId, shipmentId, trackingNumber")
    n3 --> n6
    n6 --> n8
    n6 --> n10
    n8 --> n11
    n10 --> n11
  end
  n12("undo what was done")
  n13["apologise<br/>customer.notify"]
  n12 --> n13
  f2 -.->|"Refused"| n12
  n14(["end"])
  n1 --> n3
  n11 --> n14
  n13 --> n14
`,
  );
});

test('choices, loops and leaves are drawn', () => {
  const chart = mermaidOf(
    workflow(
      sequence(
        'order',
        {
          activity: 'choice',
          name: 'size',
          branches: [{ when: { $cel: 'order.kind == "large" && order.total > 1.0' }, do: parallel('both', step('a'), step('b')) }],
        },
        { activity: 'forEach', name: 'items', list: { $cel: 'order.items' }, do: delay('rest', 5) },
        { activity: 'raise', name: 'raise', fault: 'Refused/Late', message: 'late' },
      ),
    ),
  );
  assert.equal(
    chart,
    `\
flowchart TD
  n1(["story@1"])
  n2{"size"}
  n3["a<br/>agent.a"]
  n4["b<br/>agent.b"]
  n5((" "))
  n2 -->|"order.kind == #34;large#34; && order.total #62; 1.0"| n5
  n5 --> n3
  n5 --> n4
  subgraph f6 ["for each of order.items"]
    n7("wait 5 s")
  end
  n8("raise Late")
  n3 --> n7
  n4 --> n7
  n2 -->|"otherwise"| n7
  n7 --> n8
  n9(["end"])
  n1 --> n2
`,
  );
});

test('waits and pauses are shown in the longest unit that gives a whole number', () => {
  const chart = mermaidOf(workflow(sequence('order', ...[0, 90, 120, 7200, 172_800].map((seconds) => delay(`rest-${seconds}`, seconds)))));
  assert.deepEqual(
    [...chart.matchAll(/wait ([^"]+)/g)].map(([, length]) => length),
    ['0 s', '90 s', '2 min', '2 h', '2 d'],
  );
});

test('an activity of an unknown type is drawn as a leaf, or as a frame with its children', () => {
  const known = behaviors as { [type: string]: unknown };
  Object.assign(known, { ring: { ...behaviors.delay }, ward: { ...behaviors.scope } });
  try {
    const root = { activity: 'ward', name: 'ward', do: { activity: 'ring', name: 'bell' } } as unknown as Activity;
    const chart = mermaidOf(workflow(sequence('order', root)));
    assert.match(chart, /subgraph f2 \["ward"\]\n {4}n3\("bell<br\/>ring"\)\n {2}end/);
  } finally {
    delete known['ring'];
    delete known['ward'];
  }
});
