import { defineApp } from 'redress';
import { carrier, customer, warehouse } from './agents.ts';
import { claimCase1, claimCase2, totalWithinLimit } from './workflow.ts';

export default defineApp({
  workflows: [claimCase1, claimCase2],
  agents: [warehouse, carrier, customer],
  rules: [totalWithinLimit],
  local: { samples: new URL('./samples/', import.meta.url) },
});
