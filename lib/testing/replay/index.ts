export { ReplayError } from './case-file.ts';
export type { HistoryMatchers, Matched } from './matchers.ts';
export { historyMatchers } from './matchers.ts';
export type { Moment, Replayed, ReplayOptions } from './replay.ts';
export { replay } from './replay.ts';
