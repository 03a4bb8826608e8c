import type { Figure } from './figure.ts';

/** All figures, in the order in which they are measured: a new one is a file and a line here. */
export const figures: { readonly [goal: string]: () => Promise<{ readonly figure: Figure }> } = {
  G1: () => import('./histories.ts'),
  G7: () => import('./search.ts'),
  G11: () => import('./claims.ts'),
};
