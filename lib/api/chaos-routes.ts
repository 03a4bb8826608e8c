import { showChaos, startExperiment, stopExperiment } from './chaos.ts';
import { type Route, route } from './route.ts';
import { Chaos, ChaosBody, ChaosQuery, Experiment } from './schemas/chaos.ts';

/** The calls that inject faults. Any system but that of `npm start` on one machine answers 404. */
export const chaosRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/chaos',
    roles: ['viewer', 'operator'],
    summary: 'On one machine only: show the experiments with injected faults',
    query: ChaosQuery,
    answers: { 200: { description: 'The latest experiments, and the agents, faults and samples that a new one may name', schema: Chaos } },
    refusals: ['not-found'],
    handle: showChaos,
  }),
  route({
    method: 'POST',
    path: '/chaos',
    roles: ['operator'],
    summary: 'On one machine only: inject a fault, and say what should happen',
    body: ChaosBody,
    answers: { 201: { description: 'The experiment, with what should happen', schema: Experiment } },
    refusals: ['not-found', 'conflict'],
    handle: startExperiment,
  }),
  route({
    method: 'POST',
    path: '/chaos/{id}/stop',
    roles: ['operator'],
    summary: 'On one machine only: end the fault of an experiment',
    answers: { 200: { description: 'The experiment as it ended', schema: Experiment } },
    refusals: ['not-found'],
    handle: stopExperiment,
  }),
];
