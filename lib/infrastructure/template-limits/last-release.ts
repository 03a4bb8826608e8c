import type { Released } from './indexes.ts';

/** The version and the indexes that the last release deploys. Each release updates this file; null: nothing was released yet. */
export const lastRelease: Released | null = null;
