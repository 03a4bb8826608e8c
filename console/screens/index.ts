import type { ComponentType } from 'preact';
import { person } from '../api/session.ts';
import type { IconName } from '../parts/icons.ts';

/** One screen of the console. A new screen is a file in this folder and a line in the table below. */
export interface Screen {
  /** The first part of its address. */
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  readonly group: 'work' | 'know-how' | 'system';
  /** The letter after `g` that leads to it. */
  readonly key: string;
  /** Set if only a system on one machine has this screen. */
  readonly isLocal?: true;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export const screens: readonly Screen[] = [
  { path: '', name: 'Home', icon: 'home', group: 'work', key: 'h', load: () => import('./home.tsx') },
  { path: 'tasks', name: 'Tasks', icon: 'tasks', group: 'work', key: 't', load: () => import('./tasks.tsx') },
  { path: 'exceptions', name: 'Exceptions', icon: 'layers', group: 'work', key: 'e', load: () => import('./exceptions.tsx') },
  { path: 'orders', name: 'Orders', icon: 'list', group: 'work', key: 'o', load: () => import('./orders.tsx') },
  { path: 'bulk', name: 'Bulk runs', icon: 'many', group: 'work', key: 'b', load: () => import('./bulk.tsx') },
  { path: 'solutions', name: 'Solutions', icon: 'bulb', group: 'know-how', key: 's', load: () => import('./solutions.tsx') },
  { path: 'rules', name: 'Rules', icon: 'rule', group: 'know-how', key: 'r', load: () => import('./rules.tsx') },
  {
    path: 'workflows',
    name: 'Workflows',
    icon: 'flow',
    group: 'know-how',
    key: 'w',
    load: () => import('./workflows.tsx'),
  },
  { path: 'agents', name: 'Agents and queues', icon: 'plug', group: 'system', key: 'a', load: () => import('./agents.tsx') },
  { path: 'audit', name: 'Audit', icon: 'book', group: 'system', key: 'u', load: () => import('./audit.tsx') },
  { path: 'chaos', name: 'Chaos', icon: 'bolt', group: 'system', key: 'c', isLocal: true, load: () => import('./chaos.tsx') },
];

/** The screens that this system has. */
export const screensHere = (): readonly Screen[] => screens.filter(({ isLocal }) => !isLocal || person.value?.hasChaos === true);

export const groups = [
  ['work', ''],
  ['know-how', 'Know-how'],
  ['system', 'System'],
] as const;
