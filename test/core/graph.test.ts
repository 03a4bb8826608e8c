import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { mermaidOf } from '../../lib/core/graph.ts';
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
    subgraph f5 ["again 3 times at most, every 20 s"]
      n6["charge<br/>payment.charge"]
      n7("payment.refund")
      n6 -.-|"undo"| n7
    end
    n8["ship<br/>shipping.ship"]
    n9("shipping.recall")
    n8 -.-|"undo"| n9
    n10["confirm<br/>customer.notify"]
    n3 --> n6
    n6 --> n8
    n6 --> n10
  end
  n11("undo what was done")
  n12["apologise<br/>customer.notify"]
  n11 --> n12
  f2 -.->|"Refused"| n11
  n13(["end"])
  n1 --> n3
  n8 --> n13
  n10 --> n13
  n12 --> n13
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
  n2 -->|"order.kind == #34;large#34; && order.total #62; 1.0"| n3
  n2 -->|"order.kind == #34;large#34; && order.total #62; 1.0"| n4
  subgraph f5 ["for each of order.items"]
    n6("wait 5 s")
  end
  n7("raise Late")
  n3 --> n6
  n4 --> n6
  n2 --> n6
  n6 --> n7
  n8(["end"])
  n1 --> n2
`,
  );
});
