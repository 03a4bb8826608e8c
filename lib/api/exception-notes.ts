import type * as z from 'zod';
import type { ExceptionNote } from '#core/notifications/people-group';
import { timeText } from '#ports/messages';
import { exceptionGroups } from '#roles/exceptions/groups';
import { changeNote } from '#roles/notifier/exception-notes';
import { audited } from './audited.ts';
import { muteErrors } from './groups.ts';
import { etagOf } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ExceptionNoteBody } from './schemas/groups.ts';

/** Mutes alike exceptions until a time, and notes what people know about them. A field that is left out stays as it is. */
export async function noteExceptions(call: Call<unknown, unknown, z.output<typeof ExceptionNoteBody>>): Promise<Answer | Refusal> {
  const { api, caller, id, body } = call;
  const now = api.clock.now();
  const errors = muteErrors(body.mutedUntil, now);
  if (errors.length > 0) return refuse('invalid', { errors });
  const groups = await exceptionGroups(api.store, now);
  if (!groups.some(({ fingerprint }) => fingerprint === id)) return refuse('not-found');
  const { mutedUntil, note, ticket, reason = null } = body;
  const change = { note, ticket, mutedUntil: typeof mutedUntil === 'string' ? Date.parse(mutedUntil) : mutedUntil };
  const after = await audited(
    call,
    { kind: 'group', target: id, action: mutedUntil === undefined ? 'note' : 'mute', reason },
    (entry) =>
      changeNote(api.store, id, change, {
        by: caller.subject,
        at: now,
        beside: (was, is) => entry(was ? noteView(was) : null, noteView(is)),
      }),
    () => true,
  );
  return json(200, noteView(after), { headers: { etag: etagOf(after.rev) } });
}

/** Returns the notes as people see them. A field is null if nobody has set it, or if a person has removed it. */
export const noteView = ({ fingerprint, rev, mutedUntil, note, ticket, by, at }: ExceptionNote) => ({
  fingerprint,
  rev,
  mutedUntil: mutedUntil === undefined ? null : timeText(mutedUntil),
  note: note ?? null,
  ticket: ticket ?? null,
  by,
  at: timeText(at),
});
