import { fault } from 'redress';

/** A refusal, for a reason that the traveler may read. */
export const Refused = fault('Refused');
export const NoSeat = fault('NoSeat', Refused);
export const NoRoom = fault('NoRoom', Refused);
export const NoCar = fault('NoCar', Refused);
export const VisaRefused = fault('VisaRefused', Refused);
