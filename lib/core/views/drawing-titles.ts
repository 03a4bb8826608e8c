import { behaviorOf } from '#core/activities/index';
import type { Retry } from '#core/activities/retry';
import { outputVariable } from '#core/data/child-order';
import { shortType } from '#core/data/fault';
import type { Activity, Template } from '#core/definition/definition';
import type { DrawnFrame, DrawnNode } from './drawing.ts';
import { lengthText } from './length-text.ts';
import { partsOf, templateText } from './template-text.ts';

/** Returns the frame of an activity; undefined if its type has none. The drawing then adds a frame only for handlers or an undo. */
export function frameOf(activity: Activity): Pick<DrawnFrame, 'kind' | 'title'> | undefined {
  switch (activity.activity) {
    case 'retry':
      return { kind: 'retry', title: retryText(activity) };
    case 'forEach': {
      const { list, maxConcurrency, until, collect } = activity;
      const limit = maxConcurrency === undefined ? '' : `, ${maxConcurrency} at a time`;
      return {
        kind: 'loop',
        title: `for each of ${templateText(list)}${limit}${until === undefined ? '' : `, until ${templateText(until)}`}${collect === undefined ? '' : `, collecting ${templateText(collect)}`}`,
      };
    }
    case 'while': {
      const { condition, maxTurns } = activity;
      return { kind: 'loop', title: `while ${templateText(condition)}${maxTurns === undefined ? '' : `, ${maxTurns} times at most`}` };
    }
    case 'step':
    case 'call':
    case 'sequence':
    case 'parallel':
    case 'choice':
      return undefined;
    default:
      return behaviorOf(activity.activity).children(activity).length > 0 ? { kind: 'scope', title: activity.name } : undefined;
  }
}

function retryText({ retries, intervalSeconds, except = [], only = [], undoFirst }: Retry): string {
  const pause = intervalSeconds > 0 ? `, every ${lengthText(intervalSeconds)}` : '';
  const excepted = except.length > 0 ? `, not after ${except.map(shortType).join(' or ')}` : '';
  const named = only.length > 0 ? `, only after ${only.map(shortType).join(' or ')}` : '';
  return `again ${retries} times at most${pause}${excepted}${named}${undoFirst ? ', undone first' : ''}`;
}

/** Returns the node of an activity without children. */
export function leafOf(activity: Activity): Pick<DrawnNode, 'kind' | 'title' | 'detail'> {
  switch (activity.activity) {
    case 'delay':
      return {
        kind: 'wait',
        title: `wait ${typeof activity.seconds === 'number' ? lengthText(activity.seconds) : `${templateText(activity.seconds)} s`}`,
      };
    case 'rethrow':
      return { kind: 'raise', title: 'raise it again' };
    case 'raise':
      return { kind: 'raise', title: `raise ${shortType(activity.fault)}` };
    case 'terminate':
      return { kind: 'terminate', title: activity.name };
    case 'compensate':
      return { kind: 'compensate', title: activity.scope === undefined ? 'undo what was done' : `undo ${activity.scope}` };
    case 'assign':
      return activity.variable === outputVariable
        ? { kind: 'assign', title: `output: ${partsOf(activity.value)}` }
        : { kind: 'assign', title: `${activity.variable} = ${templateText(activity.value)}` };
    case 'waitFor':
      return { kind: 'wait', title: `wait for ${activity.signal}`, ...within(activity.withinSeconds) };
    case 'askOperator':
      return { kind: 'other', title: 'ask a person', detail: activity.name };
    case 'compute':
      return { kind: 'assign', title: `${activity.name} = ${activity.function}` };
    default:
      return { kind: 'other', title: activity.name, ...(activity.activity === activity.name ? {} : { detail: activity.activity }) };
  }
}

const within = (seconds: Template | undefined): { readonly detail?: string } =>
  seconds === undefined
    ? {}
    : { detail: typeof seconds === 'number' ? `at most ${lengthText(seconds)}` : `at most ${templateText(seconds)} s` };
