import { NewerRecordError, UnreadableRecordError } from './errors.ts';
import { schemaVersion } from './record.ts';

/** What is wrong with the version of a stored record; undefined for the one that this program reads. */
export const versionProblem = (orderId: string, version: unknown): UnreadableRecordError | undefined => {
  if (version === schemaVersion) return undefined;
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > schemaVersion)
    return new NewerRecordError(orderId, version, schemaVersion);
  return new UnreadableRecordError(
    orderId,
    `it has the schema version ${String(version).slice(0, 40)}, and this program reads ${schemaVersion}`,
  );
};
