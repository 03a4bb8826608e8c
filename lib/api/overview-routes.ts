import { showOverview } from './overview.ts';
import { type Route, route } from './route.ts';
import { Overview } from './schemas/overview.ts';

/** The calls about the whole system. */
export const overviewRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/overview',
    roles: ['viewer', 'operator'],
    summary: 'Show the figures of the whole system: orders, tasks, exceptions, channels',
    answers: { 200: { description: 'The figures, and the time of the counts', schema: Overview } },
    refusals: [],
    handle: showOverview,
  }),
];
