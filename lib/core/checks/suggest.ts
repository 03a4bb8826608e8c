/** Returns ` Did you mean "x"?` if a known name is close, otherwise an empty text. */
export function didYouMean(wrong: string, known: readonly string[]): string {
  const [best] = known
    .map((name) => ({ name, distance: distance(wrong.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? ` Did you mean "${best.name}"?` : '';
}

/** Returns Levenshtein's distance. Very long texts count as infinitely distant. */
function distance(a: string, b: string): number {
  if (a.length > 100 || b.length > 100) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}
