import type { Released } from './indexes.ts';

/** What the last release deploys. Each release brings this file up to date; null: nothing was released yet. */
export const lastRelease: Released | null = null;
