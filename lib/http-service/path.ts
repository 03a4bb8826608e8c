import { PermanentFailure } from '#authoring/fault';

/**
 * Returns a path whose holes are encoded: path`/charges/${chargeId}/refund`.
 *
 * @throws PermanentFailure if a hole of the path is empty, `.` or `..`: the request would reach another resource.
 */
export function path(parts: TemplateStringsArray, ...holes: readonly (string | number)[]): string {
  return parts.reduce((before, part, index) => {
    const hole = String(holes[index - 1]);
    if (!before.includes('?') && ['', '.', '..'].includes(hole))
      throw new PermanentFailure('RequestRefused', `In the URL, the part after ${before} is empty or a dot. Expected an id.`);
    return before + encodeURIComponent(hole) + part;
  });
}
