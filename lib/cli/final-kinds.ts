/** Instructions after which the person cannot go back to the order as it was. */
export const finalKinds: ReadonlySet<string> = new Set([
  'cancel',
  'compensate',
  'handle',
  'mark-compensated',
  'recover',
  'restart',
  'resume-at',
  'skip',
  'terminate',
]);
