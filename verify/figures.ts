import type { Figure } from './figure.ts';

/** All figures, in the order in which they are measured: a new one is a file and a line here. */
export const figures: { readonly [goal: string]: () => Promise<{ readonly figure: Figure }> } = {
  G1: () => import('./histories.ts'),
  G16: () => import('./version-changes.ts'),
  G19: () => import('./same-history.ts'),
};
