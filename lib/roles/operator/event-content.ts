import type { EventContent } from '#core/data/event';
import type { State } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { stepToMark } from './feasibility.ts';
import type { Decision } from './instruction.ts';

type Unsigned<D> = D extends unknown ? Omit<D, 'by' | 'reason'> : never;

/** Returns the event that a feasible instruction or signal is to an order that has begun. */
export function contentOf(decision: Unsigned<Decision>, program: Program, state: State): EventContent {
  switch (decision.kind) {
    case 'signal':
      return { type: 'signaled', name: decision.name, payload: decision.payload };
    case 'cancel':
      return { type: 'canceled', outcome: 'canceled' };
    case 'compensate':
      return { type: 'canceled', outcome: 'compensated' };
    case 'terminate':
      return { type: 'terminated' };
    case 'suspend':
      return { type: 'suspended' };
    case 'resume':
      return { type: 'resumed' };
    case 'mark-compensated':
      return { type: 'markedCompensated', path: stepToMark(program, state, decision.path) ?? rootPath };
    case 'resubmit': {
      const { answer, completeWithinSeconds } = decision;
      return {
        type: 'resubmitted',
        ...(answer === undefined ? {} : { answer }),
        ...(completeWithinSeconds === undefined ? {} : { completeWithinSeconds }),
      };
    }
  }
}
