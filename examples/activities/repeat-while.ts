import { assign, defineWorkflow, delay, not, repeatWhile, sequence, variables } from 'redress';
import * as z from 'zod';
import { shipping } from './agents.ts';

const vars = variables<{ arrived: boolean }>();

export const untilArrived = defineWorkflow('example-repeat-while', { version: 1, order: z.object({}) }, () => {
  const look = shipping.status({});
  const turn = sequence(delay({ seconds: 3600 }), look, assign(vars.arrived, look.output.arrived));

  return sequence(assign(vars.arrived, false), repeatWhile(not(vars.arrived), turn, { maxTurns: 48 }));
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
