import * as z from 'zod';
import { anyJson } from './common.ts';

/** A page of an exported order. Each page has a part of the journal. The first page has everything else, too. */
export const ExportedOrder = z.strictObject({
  case: z
    .strictObject({
      v: z.literal(1).describe('the version of the format'),
      order: anyJson.describe('the order as it was submitted'),
      head: anyJson.describe('how the order stands, and the settings that it keeps'),
      definition: anyJson.describe('its workflow'),
      schemas: anyJson.describe('the schemas of the operations of its workflow'),
      rules: anyJson.describe('the rules in force about its workflow'),
      state: anyJson.describe('its state; null if that cannot be read'),
    })
    .exactOptional()
    .describe('only on the first page'),
  items: z.array(anyJson).describe('lines of the journal, oldest first, with the event that each one comes from; times in milliseconds'),
  next: z.string().nullable(),
});
