import orders from '../../examples/orders/app.ts';

/** The sample with one agent changed, so that one sees which of both is at work: the customer is told `shipped, 2`. */
export default {
  ...orders,
  agents: orders.agents.map((agent) => {
    const { notify } = agent.operations;
    if (agent.name !== 'customer' || !notify) return agent;
    const tell = notify.run as (input: { kind: string }, call: never) => unknown;
    const run = (input: { kind: string }, call: never) => tell({ ...input, kind: `${input.kind}, 2` }, call);
    return { ...agent, operations: { ...agent.operations, notify: { ...notify, run } } };
  }),
};
