import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { createTally } from './tally.ts';

const Missing = fault('Missing');
const Parcel = z.object({ street: z.string() });

const post = defineAgent('post', {
  send: operation({
    input: Parcel,
    output: z.object({}),
    faults: [Missing],
    run: ({ street }, call) => (street === '' ? call.failed(Missing, 'The street is missing.') : {}),
  }),
});

const send = defineWorkflow('send', { version: 1, order: Parcel, toOperator: [Missing] }, ({ order }) =>
  sequence(post.send({ street: order.street }).noUndo()),
);

const tally = createTally((line) => void process.stdout.write(`${line}\n`));

export default defineApp({ workflows: [send], agents: [post], services: [tally.service], on: tally.on });
