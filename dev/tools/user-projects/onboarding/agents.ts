import { defineAgent, operation } from 'redress';
import { httpService, path } from 'redress/http';
import * as z from 'zod';
import { NoDesk, NoLaptop } from './faults.ts';

const office = httpService({ name: 'office', urlFrom: 'OFFICE_URL' });

const Account = z.object({ accountId: z.string() });
const Laptop = z.object({ laptopId: z.string() });
const Desk = z.object({ deskId: z.string() });
const Nothing = z.object({});

export const it = defineAgent('it', {
  createAccount: operation({
    input: z.object({ name: z.string(), email: z.string() }),
    output: Account,
    run: (input, call) => office.post('/accounts', input, call),
    lookup: (key, call) => office.lookup('/accounts', key, call),
  }),
  deleteAccount: operation({
    input: Account,
    output: Nothing,
    run: ({ accountId }, call) => office.delete(path`/accounts/${accountId}`, call),
  }),
  provisionLaptop: operation({
    input: z.object({ accountId: z.string(), model: z.string() }),
    output: Laptop,
    faults: [NoLaptop],
    run: (input, call) => office.post('/laptops', input, call),
    lookup: (key, call) => office.lookup('/laptops', key, call),
  }),
  returnLaptop: operation({
    input: Laptop,
    output: Nothing,
    run: ({ laptopId }, call) => office.delete(path`/laptops/${laptopId}`, call),
  }),
});

export const facilities = defineAgent('facilities', {
  bookDesk: operation({
    input: z.object({ name: z.string(), city: z.string() }),
    output: Desk,
    faults: [NoDesk],
    run: (input, call) => office.post('/desks', input, call),
    lookup: (key, call) => office.lookup('/desks', key, call),
  }),
  releaseDesk: operation({
    input: Desk,
    output: Nothing,
    run: ({ deskId }, call) => office.delete(path`/desks/${deskId}`, call),
  }),
  mail: operation({
    input: z.object({ to: z.string(), text: z.string() }),
    output: Nothing,
    run: (input, call) => office.post('/mails', input, call),
  }),
});
