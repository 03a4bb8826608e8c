import type { Experiment } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.ts';

interface Words {
  readonly title: string;
  /** The effect of the button, for an agent and a number of seconds. */
  readonly button: (agent: string, seconds: number) => string;
  readonly icon: IconName;
  readonly needsAgent: boolean;
}

/** The words for each kind of experiment, in the order of the page. */
export const words: { readonly [kind in Experiment['kind']]: Words } = {
  'drop-reply': { title: 'Drop a reply', button: (agent) => `Drop the next reply of ${agent}`, icon: 'letter', needsAgent: true },
  'silence-agent': {
    title: 'Silence an agent',
    button: (agent, seconds) => `Silence ${agent} for ${seconds} s`,
    icon: 'pause',
    needsAgent: true,
  },
  'kill-scheduler': {
    title: 'Kill the scheduler',
    button: (_, seconds) => `Kill the scheduler for ${seconds} s`,
    icon: 'cancel',
    needsAgent: false,
  },
  'double-message': { title: 'Double a message', button: (agent) => `Double the next request to ${agent}`, icon: 'copy', needsAgent: true },
  'sicken-service': {
    title: 'Let a service fail',
    button: (agent, seconds) => `Let each call of the service of ${agent} fail for ${seconds} s`,
    icon: 'bolt',
    needsAgent: true,
  },
};
