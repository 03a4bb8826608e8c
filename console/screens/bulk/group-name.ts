import { apiPath } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import type { Exception } from '../../api/types.ts';
import { groupName } from '../../parts/text.tsx';

/** Returns the name of a group of exceptions, `SwitchedToFail at ship`, as soon as one of them has been read. */
export function useGroupName(fingerprint: string | undefined): string | undefined {
  const path = fingerprint === undefined ? undefined : apiPath('/exceptions', { fingerprint, limit: 1 });
  const [one] = usePoll<{ items: readonly Exception[] }>(path, 60_000).data?.items ?? [];
  return one && groupName(one);
}
