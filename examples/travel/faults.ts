import { fault } from 'redress';

/** Somebody said no, for a reason that the traveller can be told. */
export const Refused = fault('Refused');
export const NoSeat = fault('NoSeat', Refused);
export const NoRoom = fault('NoRoom', Refused);
export const NoCar = fault('NoCar', Refused);
export const VisaRefused = fault('VisaRefused', Refused);
