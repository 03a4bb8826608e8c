const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** Returns a length in the longest unit that divides it: `90 s`, `2 h`. */
export function lengthText(seconds: number): string {
  const unit = units.find(([, each]) => seconds > 0 && seconds % each === 0);
  return unit ? `${seconds / unit[1]} ${unit[0]}` : `${seconds} s`;
}
