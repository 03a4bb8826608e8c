import { AsyncLocalStorage } from 'node:async_hooks';

/** Roles that do the work: functions of the system, and outsiders who call its API. */
export const roles = [
  'submissions',
  'scheduler',
  'agent',
  'children',
  'consumer',
  'supervisor',
  'sweeper',
  'bulk',
  'dead-letter',
  'notifier',
  'client',
  'operator',
  'desk',
] as const;
export type Role = (typeof roles)[number];

const atWork = new AsyncLocalStorage<Role>();

/** Runs the function, and attributes it and everything that it starts to this role. */
export const as = <T>(role: Role | undefined, run: () => T): T => (role === undefined ? run() : atWork.run(role, run));

export const roleAtWork = (): Role | undefined => atWork.getStore();

const batch = new AsyncLocalStorage<string>();

/** Runs the function, and attributes it and everything that it starts to this batch of a consumer. */
export const inBatch = <T>(name: string | undefined, run: () => T): T => (name === undefined ? run() : batch.run(name, run));

export const batchAtWork = (): string | undefined => batch.getStore();
