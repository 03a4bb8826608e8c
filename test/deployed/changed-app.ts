import orders from '../../examples/orders/app.ts';

/** The sample with one changed agent: it sends `shipped, 2` to the customer, so that a test sees which version runs. */
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
