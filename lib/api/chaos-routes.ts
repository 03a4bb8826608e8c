import { showChaos, startExperiment, stopExperiment } from './chaos.ts';
import { type Route, route } from './route.ts';
import { Chaos, ChaosBody, ChaosQuery, Experiment } from './schemas/chaos.ts';

/** The calls that inject faults. Every system answers them with 404, except the one that `npm start` runs on one machine. */
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
