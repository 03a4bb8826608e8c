import { amending } from './amending.ts';
import { bulk } from './bulk.ts';
import { causes } from './causes.ts';
import { claims, moreClaims } from './claims.ts';
import { consumers } from './consumers.ts';
import { entrance } from './entrance.ts';
import { limits } from './limits.ts';
import { locks } from './locks.ts';
import type { Mutant } from './mutant.ts';
import { notifying } from './notifying.ts';
import { objects } from './objects.ts';
import { rebuilding } from './rebuilding.ts';
import { recovering } from './recovering.ts';
import { moreReplies, replies } from './replies.ts';
import { retention } from './retention.ts';
import { ruling } from './ruling.ts';
import { moreSending, sending } from './sending.ts';
import { moreSupervision, supervision } from './supervision.ts';
import { compensation, moreCompensation } from './undoing.ts';

/** The mistakes that the literature on such systems names. */
export const classic: readonly Mutant[] = [...claims, ...supervision, ...sending, ...replies, ...compensation, ...entrance];

/** Mistakes that are specific to this protocol. */
export const further: readonly Mutant[] = [
  ...moreClaims,
  ...moreSupervision,
  ...moreSending,
  ...causes,
  ...moreReplies,
  ...moreCompensation,
  ...limits,
  ...retention,
  ...rebuilding,
  ...ruling,
  ...recovering,
  ...bulk,
  ...locks,
  ...notifying,
  ...amending,
  ...consumers,
  ...objects,
];
