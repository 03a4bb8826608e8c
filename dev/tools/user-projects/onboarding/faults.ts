import { fault } from 'redress';

export const Refused = fault('Refused');
export const NotApproved = fault('NotApproved', Refused);
export const NoLaptop = fault('NoLaptop', Refused);
export const NoDesk = fault('NoDesk');
