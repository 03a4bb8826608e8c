import type { Cli } from '#cli/command';

/** `skipped`: the check cannot be made from here, or another finding makes it useless. */
export type FindingState = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one check. */
export interface Finding {
  /** The thing that was examined: `node`, `channel payment`. */
  readonly what: string;
  readonly state: FindingState;
  /** A sentence, or a value. */
  readonly detail: string;
  /** The remedy: a command, or a thing to do. */
  readonly remedy?: string;
}

/** Examines one thing. A check changes nothing. */
export type Examine = (cli: Cli) => Promise<readonly Finding[]> | readonly Finding[];

export const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
export const skipped = (what: string, detail: string): Finding => ({ what, state: 'skipped', detail });
export const warning = (what: string, detail: string, remedy: string): Finding => ({ what, state: 'warning', detail, remedy });
export const failed = (what: string, detail: string, remedy: string): Finding => ({ what, state: 'failed', detail, remedy });
