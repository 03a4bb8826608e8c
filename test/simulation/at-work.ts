import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose work something is: a function of the system, or somebody outside who calls its API. */
export const roles = [
  'submissions',
  'scheduler',
  'agent',
  'children',
  'supervisor',
  'sweeper',
  'dead-letter',
  'client',
  'operator',
] as const;
export type Role = (typeof roles)[number];

const atWork = new AsyncLocalStorage<Role>();

/** Whatever is begun in it, and whatever follows from that, is work of this role. */
export const as = <T>(role: Role | undefined, run: () => T): T => (role === undefined ? run() : atWork.run(role, run));

export const roleAtWork = (): Role | undefined => atWork.getStore();
