/** The parts of a message that differ from order to order, in the order in which they are taken out. */
const parts: readonly RegExp[] = [
  // UUIDs.
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  // Ids: a prefix, "_", 16 or more letters and digits.
  /(?<![a-z0-9])[a-z][a-z0-9]*_[a-z0-9]{16,}\b/gi,
  // Hexadecimal runs of 8 or more with a digit.
  /\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi,
  // ISO dates and times.
  /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/gi,
  // Numbers with sign, point and separators.
  /[+-]?\d+(?:[.,'_]\d+)*/g,
];

/**
 * Returns the part that alike messages share: ids, dates and numbers become `#`, and letters become lower case. Quoted text changes, too.
 * The time that it takes grows in proportion to the length of the message.
 */
export const messageTemplate = (message: string): string => parts.reduce((text, part) => text.replace(part, '#'), message).toLowerCase();
