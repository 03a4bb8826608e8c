/** A job of `spread` for its own test: squares; -1 fails, and -2 ends the process. */
export function work({ first, runs }: { readonly first: number; readonly runs: number }) {
  if (first === -1) throw new RangeError('no such seed');
  if (first === -2) process.exit(7);
  return { squares: Array.from({ length: runs }, (_, index) => (first + index) ** 2), process: process.pid };
}
