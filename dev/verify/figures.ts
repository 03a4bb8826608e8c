import type { Figure } from './figure.ts';

/** All figures, in the order of their measurement. A new figure is a file and a line here. */
export const figures: { readonly [goal: string]: () => Promise<{ readonly figure: Figure }> } = {
  G1: () => import('./histories.ts'),
  G2: () => import('./time-factor.ts'),
  G3: () => import('./replay.ts'),
  G4: () => import('./protocol-mutants.ts'),
  G5: () => import('./crash-points.ts'),
  G6: () => import('./fault-landing.ts'),
  G7: () => import('./search.ts'),
  'A9-secrets': () => import('./stored-secrets.ts'),
  'G9-files': () => import('./torn-files.ts'),
  G9: () => import('./live-kills.ts'),
  G10: () => import('./paused-holders.ts'),
  G11: () => import('./claims.ts'),
  G12: () => import('./bad-input.ts'),
  G13: () => import('./poison-messages.ts'),
  G14: () => import('./hostile-expressions.ts'),
  G16: () => import('./version-changes.ts'),
  G17: () => import('./unheard.ts'),
  G18: () => import('./overload.ts'),
  'G18-noisy': () => import('./noisy-client.ts'),
  'G18-content': () => import('./bad-content.ts'),
  G19: () => import('./same-history.ts'),
};
