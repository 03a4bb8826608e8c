import type { History } from '../history.ts';
import type { Happening } from '../sight.ts';

/** Something that must hold whatever goes wrong. Each answers with what is wrong, in words that name the order. */
export interface Law {
  readonly name: string;
  /** Looked at after everything that happens. */
  after?(happening: Happening, history: History): string | undefined;
  /** Looked at when faults are over, time has gone on, and everything has come to rest. */
  atEnd?(history: History): readonly string[];
}
