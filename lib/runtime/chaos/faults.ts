import type { Experiment } from '#api/chaos';
import { doubleMessage } from './double-message.ts';
import { dropReply } from './drop-reply.ts';
import type { CreateFault } from './fault.ts';
import { killScheduler } from './kill-scheduler.ts';
import { sickenService } from './sicken-service.ts';
import { silenceAgent } from './silence-agent.ts';

/** The faults of experiments, each with the seconds that it lasts by default; 0: it happens once. */
export const faults: { readonly [kind in Experiment['kind']]: { readonly create: CreateFault; readonly seconds: number } } = {
  'drop-reply': { create: dropReply, seconds: 0 },
  // The silence is longer than the time limit of a step on one machine, so that the supervisor has to act.
  'silence-agent': { create: silenceAgent, seconds: 15 },
  'kill-scheduler': { create: killScheduler, seconds: 5 },
  'double-message': { create: doubleMessage, seconds: 0 },
  'sicken-service': { create: sickenService, seconds: 15 },
};
