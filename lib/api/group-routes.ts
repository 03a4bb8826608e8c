import { noteExceptions } from './exception-notes.ts';
import { listGroups, putGroup } from './groups.ts';
import { type Route, route } from './route.ts';
import { PageQuery, pageOf } from './schemas/common.ts';
import { ExceptionNoteBody, ExceptionNoteView, GroupBody, GroupHeaders, PeopleGroupView } from './schemas/groups.ts';

/** The calls that say who hears of tasks, where, and which exceptions are muted. */
export const groupRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/groups',
    roles: ['viewer', 'operator'],
    summary: 'List the groups of people, by name',
    query: PageQuery,
    answers: { 200: { description: 'A page of groups', schema: pageOf(PeopleGroupView) } },
    refusals: [],
    handle: listGroups,
  }),
  route({
    method: 'PUT',
    path: '/groups/{name}',
    roles: ['admin'],
    summary: 'Write a group of people: its members, and where it hears of its tasks',
    headers: GroupHeaders,
    body: GroupBody,
    answers: {
      200: { description: 'The changed group, with its `ETag`', schema: PeopleGroupView },
      201: { description: 'The new group, with its `ETag`', schema: PeopleGroupView },
    },
    refusals: ['stale'],
    handle: putGroup,
  }),
  route({
    method: 'PATCH',
    path: '/exceptions/groups/{id}',
    roles: ['operator'],
    summary: 'Mute alike exceptions until a time, or note what people know about them',
    body: ExceptionNoteBody,
    answers: { 200: { description: 'What is noted about the exceptions of this fingerprint now', schema: ExceptionNoteView } },
    refusals: ['not-found'],
    handle: noteExceptions,
  }),
];
