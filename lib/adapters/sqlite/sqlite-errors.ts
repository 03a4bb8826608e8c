/** Codes of SQLite. */
export const corrupt = 11;
export const full = 13;
export const notADatabase = 26;

export const damageRemedy =
  'Stop all processes that use it, copy its folder, and replace it with a backup. The .recover command of sqlite3 saves what is still readable.';
/** Remedies by error code. For other codes the caller names the remedy. */
export const remedies: { readonly [code: number]: string | undefined } = {
  10: 'Check the disk, its free space and the quota; then start again.',
  [corrupt]: damageRemedy,
};

export const errcode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: number }).errcode;
  return code === undefined ? undefined : code & 0xff;
};
export const isSqlite = (error: unknown): boolean => errcode(error) !== undefined;
export const isBusy = (error: unknown): boolean => errcode(error) === 5 || errcode(error) === 6;
/**
 * Whether the file is read-only, cannot be read or written, is damaged, cannot be opened, or is not a database. A full disk (13) is
 * temporary: it only refuses writes.
 */
export const isFatal = (error: unknown): boolean => [8, 10, corrupt, 14, notADatabase].includes(errcode(error) ?? 0);
