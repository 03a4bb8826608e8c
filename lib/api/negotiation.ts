interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Whether an Accept header allows one of the media types; for each type the most specific range decides (RFC 9110). */
export function accepts(header: string | null, types: readonly string[]): boolean {
  if (header === null || header === '*/*' || header === '') return true;
  const ranges = header.split(',').map(rangeOf);
  return types.some((type) => {
    const group = `${type.slice(0, type.indexOf('/'))}/*`;
    const mostSpecific = [type, group, '*/*']
      .map((wanted) => ranges.find((range) => range.type === wanted))
      .find((range) => range !== undefined);
    return mostSpecific !== undefined && mostSpecific.quality > 0;
  });
}

const rangeOf = (text: string): Range => {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
};
