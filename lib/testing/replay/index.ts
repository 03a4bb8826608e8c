export { ReplayError } from './case-file.ts';
export type { Moment, Replayed, ReplayOptions } from './replay.ts';
export { replay } from './replay.ts';
