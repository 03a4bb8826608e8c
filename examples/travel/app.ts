import { defineApp } from 'redress';
import { car, flight, hotel, post, visaOffice } from './agents.ts';
import { bookGroup, bookTrip } from './workflow.ts';

export default defineApp({
  workflows: [bookTrip, bookGroup],
  agents: [flight, hotel, car, visaOffice, post],
  local: { samples: new URL('./samples/', import.meta.url) },
});
