import { defineApp } from 'redress';
import { accounts, warehouse } from './agents.ts';
import { receiveGoods, sellGoods } from './workflow.ts';

export default defineApp({
  workflows: [receiveGoods, sellGoods],
  agents: [warehouse, accounts],
  local: { samples: new URL('./samples/', import.meta.url) },
});
