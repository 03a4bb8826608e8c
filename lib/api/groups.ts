import type * as z from 'zod';
import { isName, peopleLimits } from '#core/definition/people';
import { type Destination, urlProblem } from '#core/notifications/delivery';
import { groupLimits, type PeopleGroup } from '#core/notifications/people-group';
import { timeText } from '#ports/messages';
import { dayMs } from '#ports/util/days';
import { createPeopleGroups } from '#roles/notifier/people-groups';
import { audited } from './audited.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor, etagOf } from './orders.ts';
import { badParameter, type ProblemError, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PageQuery } from './schemas/common.ts';
import type { GroupBody, GroupHeaders } from './schemas/groups.ts';

/** Lists the groups of people by name. Only admins see whole addresses: their paths may hold tokens. */
export async function listGroups({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['groups', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const rest = (await createPeopleGroups(api.store).list()).filter(({ name }) => name > String(after[0]));
  const items = rest.slice(0, query.limit);
  const last = items.at(-1);
  const next = rest.length > items.length && last ? sealCursor([last.name], scope) : null;
  const isAdmin = caller.roles.has('admin');
  return json(200, { items: items.map((group) => groupView(group, isAdmin)), next });
}

type Put = Call<unknown, z.output<typeof GroupHeaders>, z.output<typeof GroupBody>>;

/** Writes a group of people. An address that the deployment does not allow is refused here, not when a message is to be sent. */
export async function putGroup(call: Put): Promise<Answer | Refusal> {
  const { api, caller, name, headers, body } = call;
  if (!isName(name)) return badParameter('/name', 'invalid-format', `name: expected 1 to ${peopleLimits.groupCharactersMax} characters.`);
  const errors = [...destinationErrors(body.notify, api.config.notify?.hosts ?? []), ...muteErrors(body.mutedUntil, api.clock.now())];
  if (errors.length > 0) return refuse('invalid', { errors });
  const groups = createPeopleGroups(api.store);
  const before = await groups.group(name);
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && ifMatch !== (before && etagOf(before.rev))) return refuse('stale');
  const { mutedUntil = before?.mutedUntil === undefined ? null : timeText(before.mutedUntil), members, notify, reason } = body;
  const group: PeopleGroup = {
    name,
    rev: (before?.rev ?? 0) + 1,
    members: [...new Set(members)],
    notify: notify as readonly Destination[],
    ...(mutedUntil === null ? {} : { mutedUntil: Date.parse(mutedUntil) }),
    by: caller.subject,
    at: api.clock.now(),
    reason,
  };
  const written = await audited(
    call,
    { kind: 'group', target: name, action: before ? 'change' : 'create', reason },
    (entry) => groups.put(group, entry(before ? auditView(before) : null, auditView(group))),
    ({ outcome }) => outcome === 'written',
  );
  if (written.outcome === 'refused') return refuse('stale');
  return json(before ? 200 : 201, groupView(group, true), { headers: { etag: etagOf(group.rev) } });
}

function destinationErrors(notify: z.output<typeof GroupBody>['notify'], hosts: readonly string[]): readonly ProblemError[] {
  return notify.flatMap((destination, index) => {
    const detail = destination.kind === 'webhook' ? urlProblem(destination.url, hosts) : undefined;
    return detail === undefined ? [] : [{ pointer: `/notify/${index}/url`, code: 'not-allowed', detail }];
  });
}

/** A mute that nobody ends would hide the next incident, so it has a limit. */
export function muteErrors(mutedUntil: string | null | undefined, now: number): readonly ProblemError[] {
  if (typeof mutedUntil !== 'string' || Date.parse(mutedUntil) <= now + groupLimits.muteDaysMax * dayMs) return [];
  const detail = `mutedUntil: expected a time within the next ${groupLimits.muteDaysMax} days.`;
  return [{ pointer: '/mutedUntil', code: 'too-late', detail }];
}

const auditView = ({ members, notify, mutedUntil }: PeopleGroup) => ({
  members,
  notify: notify.map(maskedDestination),
  mutedUntil: mutedUntil === undefined ? null : timeText(mutedUntil),
});

const groupView = ({ notify, mutedUntil, at, ...group }: PeopleGroup, isAdmin: boolean) => ({
  ...group,
  notify: isAdmin ? notify : notify.map(maskedDestination),
  mutedUntil: mutedUntil === undefined ? null : timeText(mutedUntil),
  at: timeText(at),
});

const maskedDestination = (destination: Destination) =>
  destination.kind === 'webhook' ? { ...destination, url: `${new URL(destination.url).origin}/…` } : destination;
