import { type Crashed, crash, type Piece } from '../../test/crash-points/crash.ts';

/** A job of `spread`: a process crashes at some of the calls of one definition. */
export const work = (piece: Piece): Promise<Crashed> => crash(piece);
