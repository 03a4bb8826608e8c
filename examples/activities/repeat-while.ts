import { assign, cel, defineWorkflow, delay, repeatWhile, sequence, variable } from 'redress';
import * as z from 'zod';
import { shipping } from './agents.ts';

const arrived = variable<boolean>('arrived');

export const untilArrived = defineWorkflow('example-repeat-while', { version: 1, order: z.object({}) }, () => {
  const look = shipping.status({});
  const turn = sequence(delay({ seconds: 3600 }), look, assign(arrived, look.output.arrived));

  return sequence(assign(arrived, false), repeatWhile(cel<boolean>`!${arrived}`, turn, { maxTurns: 48 }));
});

export const story = `
  start
  .. wake at +3600s

  after 3600s
  -> shipping order/while[0]/sequence/status key order/while[0]/sequence/status/1 attempt 1

  ok order/while[0]/sequence/status {"arrived": false}
  .. wake at +3600s

  after 3600s
  -> shipping order/while[1]/sequence/status key order/while[1]/sequence/status/1 attempt 1

  ok order/while[1]/sequence/status {"arrived": true}
  == closed
`;

export const body = {};
