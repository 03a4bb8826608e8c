/** Returns two histories side by side, from a little before the first difference; undefined if they are equal. */
export function difference(
  [one, first]: readonly [string, readonly string[]],
  [other, second]: readonly [string, readonly string[]],
): string | undefined {
  const length = Math.max(first.length, second.length);
  const at = Array.from({ length }, (_, index) => index).find((index) => first[index] !== second[index]);
  if (at === undefined) return undefined;
  const from = Math.max(0, at - before);
  const rows = Array.from({ length: Math.min(length, at + after) - from }, (_, index) => {
    const [left = '', right = ''] = [first[from + index], second[from + index]];
    return `${left === right ? ' ' : '|'} ${fitted(left)} | ${fitted(right)}`;
  });
  return [`  ${one.padEnd(width)} | ${other}`, ...rows].join('\n');
}

const before = 2;
const after = 12;
const width = 100;
const fitted = (line: string): string => line.slice(0, width).padEnd(width);
